package mirror

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/wrap"
)

// publicDelay is the default pause between two requests to the same public
// host.
const publicDelay = time.Second

// politeness returns the middlewares that obey robots.txt and pause between the
// requests to a host. A robots.txt is requested once, both to check its rules
// and to archive it.
func (c *crawl) politeness() []fetch.Middleware {
	o := wrap.PoliteOptions{PerHost: cmp.Or(c.o.PerHost, privateConnections), DelayOf: c.delayOf}
	if c.o.IgnoreRobots {
		return []fetch.Middleware{wrap.Polite(o), c.takeTurn, c.measureResponses}
	}
	o.Rule = c.rule
	return []fetch.Middleware{wrap.Polite(o), c.robots.middleware, c.takeTurn, c.measureResponses}
}

// rule returns a rule that rejects requests that robots.txt disallows. It stores
// the Crawl-delay of each host.
func (c *crawl) rule(next fetch.Driver) wrap.Rule {
	check := wrap.Robots(c.o.Agent)(next)
	return func(ctx context.Context, req *fetch.Request) (time.Duration, error) {
		delay, err := check(ctx, req)
		return delay, errors.Join(err, c.keepCrawlDelay(ctx, hostOf(req.URL), delay))
	}
}

// delayOf returns the minimum time between two requests to host, as set by
// Delay or its default.
func (o *Options) delayOf(host string) time.Duration {
	if o.Delay == 0 && !privateHost(host) {
		return publicDelay
	}
	return max(o.Delay, 0)
}
