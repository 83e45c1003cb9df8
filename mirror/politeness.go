package mirror

import (
	"context"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/wrap"
)

// publicDelay is the default pause between two requests to the same public
// host.
const publicDelay = time.Second

// politeness returns the middlewares that obey robots.txt and pause between the
// requests to a host. The check of robots.txt and the archived robots.txt use
// the same response.
func (c *crawl) politeness() []fetch.Middleware {
	o := &c.o
	polite := wrap.Polite(wrap.PoliteOptions{PerHost: o.PerHost, Delay: max(o.Delay, 0), Rule: c.rule})
	if o.IgnoreRobots {
		return []fetch.Middleware{polite, c.measureResponses}
	}
	return []fetch.Middleware{polite, c.robots.middleware, c.measureResponses}
}

// rule is like Options.rule, and records the delay of each host.
func (c *crawl) rule(next fetch.Driver) wrap.Rule {
	rule := c.o.rule(next)
	return func(ctx context.Context, req *fetch.Request) (time.Duration, error) {
		delay, err := rule(ctx, req)
		c.setDelay(req.URL, max(delay, c.o.Delay))
		return delay, err
	}
}

// rule returns a rule that sets the delay for each host. Unless IgnoreRobots is
// set, the rule also rejects requests that robots.txt disallows.
func (o *Options) rule(next fetch.Driver) wrap.Rule {
	check := func(context.Context, *fetch.Request) (time.Duration, error) { return 0, nil }
	if !o.IgnoreRobots {
		check = wrap.Robots(o.Agent)(next)
	}
	defaultDelay := o.Delay == 0
	return func(ctx context.Context, req *fetch.Request) (time.Duration, error) {
		delay, err := check(ctx, req)
		if defaultDelay && !privateHost(strings.ToLower(req.URL.Host())) {
			delay = max(delay, publicDelay)
		}
		return delay, err
	}
}
