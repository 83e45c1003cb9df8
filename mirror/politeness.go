package mirror

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
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
		return []fetch.Middleware{wrap.Polite(o), registerRequests, c.measureResponses, c.learnAddresses}
	}
	o.Rule = c.rule
	return []fetch.Middleware{wrap.Polite(o), c.robots.middleware, registerRequests, c.measureResponses, c.learnAddresses}
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

// defaultDelay returns the minimum time between two requests to host, as set by
// Options.Delay or its default.
func (c *crawl) defaultDelay(host string) time.Duration {
	if c.o.Delay == 0 && !c.isPrivate(host) {
		return publicDelay
	}
	return max(c.o.Delay, 0)
}

// isPrivate reports whether host is this machine or belongs to a private
// network, so that requests to it need no pause. The address of the last
// response decides. Before the first response, only an address or localhost in
// the URL counts.
func (c *crawl) isPrivate(host string) bool {
	if _, private := c.private.Load(host); private || host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && isPrivateAddr(addr)
}

func isPrivateAddr(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast()
}

// learnAddresses is a middleware that records whether the server of each
// response has a private address. It has no effect on hosts behind a proxy,
// because their addresses are unknown.
func (c *crawl) learnAddresses(next fetch.Driver) fetch.Driver {
	return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		resp, err := next.Do(ctx, req)
		host := hostOf(req.URL)
		switch {
		case err != nil || !resp.Peer.IsValid():
		case !isPrivateAddr(resp.Peer):
			c.private.Delete(host)
		default:
			if _, known := c.private.LoadOrStore(host, true); !known {
				if h := c.hostWorker(host); h != nil {
					h.setConnections(c.connections(host))
				}
			}
		}
		return resp, err
	})
}
