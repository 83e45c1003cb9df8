package wrap

import (
	"context"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// PoliteOptions limits the requests to each host.
type PoliteOptions struct {
	PerHost int           // maximum number of concurrent requests; 0 means 2
	Delay   time.Duration // minimum time between the starts of two requests

	// DelayOf, if not nil, returns the minimum time for the host of req, in place
	// of Delay. It is called before each request, so the time can change.
	DelayOf func(req *fetch.Request) time.Duration

	// Rule, if not nil, returns a function that is called before each request;
	// see [Robots]. The function can send requests through next. The limits
	// also apply to these requests.
	Rule func(next fetch.Driver) Rule
}

// A Rule decides whether req may be sent. It returns the minimum time between
// the starts of two requests to the host of req. The longest time that it
// returned for a host applies to later requests too, if it exceeds
// PoliteOptions.Delay. If the Rule returns an error, the request is not sent.
type Rule func(ctx context.Context, req *fetch.Request) (time.Duration, error)

// Polite returns a middleware that limits the requests to each host. It does
// not limit requests whose URL has no host.
//
// A request is in progress until its Body ends or is closed. A program that
// fetches the entries of a listing while it reads the listing therefore needs
// PerHost of at least 2.
func Polite(o PoliteOptions) fetch.Middleware {
	if o.PerHost <= 0 {
		o.PerHost = 2
	}
	p := &polite{PoliteOptions: o, hosts: map[string]*host{}}
	return func(next fetch.Driver) fetch.Driver {
		plain := fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			return p.do(ctx, next, req, 0)
		})
		if p.Rule == nil {
			return plain
		}
		rule := p.Rule(plain)
		return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			delay, err := rule(ctx, req)
			if err != nil {
				return nil, err
			}
			return p.do(ctx, next, req, delay)
		})
	}
}

type polite struct {
	PoliteOptions
	mu    sync.Mutex
	hosts map[string]*host
}

// A host contains the limits and the counters for one host with recent
// requests.
type host struct {
	name  string
	slots chan struct{} // contains one element per request in progress
	users int           // number of requests that wait or are in progress
	delay time.Duration // result of DelayOf for the latest request, or Delay
	rule  time.Duration // longest result of the Rule
	last  time.Time     // start of the last request; zero before the first request
}

// next returns the earliest time at which the next request to h may start.
func (h *host) next() time.Time { return h.last.Add(max(h.delay, h.rule)) }

func (p *polite) do(
	ctx context.Context, next fetch.Driver, req *fetch.Request, delay time.Duration,
) (*fetch.Response, error) {
	target, err := fetch.TargetOf(req.URL, 0)
	if err != nil || target.Host == "" { // the next Driver returns the error, or uses no network
		return next.Do(ctx, req)
	}
	base := p.Delay
	if p.DelayOf != nil {
		base = p.DelayOf(req)
	}
	h := p.host(target.Origin().Host, base, delay)
	if err := p.acquire(ctx, h); err != nil {
		p.removeUser(h)
		return nil, err
	}
	resp, err := next.Do(ctx, req)
	if err != nil {
		p.release(h)
		return nil, err
	}
	resp.Body = &observedBody{ReadCloser: resp.Body, onEnd: func(int64, error) { p.release(h) }}
	return resp, nil
}

// acquire waits for a free slot of a host and then for the minimum delay.
func (p *polite) acquire(ctx context.Context, h *host) error {
	select {
	case h.slots <- struct{}{}:
	default:
		select {
		case h.slots <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for {
		wait := p.start(h)
		if wait <= 0 {
			return nil
		}
		if !sleep(ctx, wait) {
			<-h.slots
			return context.Cause(ctx)
		}
	}
}

// host returns the counters of a host and adds a new request to them. The
// parameter delay is the result of DelayOf, or Delay, and rule is the result of
// the Rule.
func (p *polite) host(name string, delay, rule time.Duration) *host {
	p.mu.Lock()
	defer p.mu.Unlock()
	h, ok := p.hosts[name]
	if !ok {
		p.removeIdle()
		h = &host{name: name, slots: make(chan struct{}, p.PerHost)}
		p.hosts[name] = h
	}
	h.users++
	h.delay, h.rule = delay, max(h.rule, rule)
	return h
}

// start starts a request to the host if the minimum delay has passed. Otherwise
// it returns the time to wait before the next attempt.
func (p *polite) start(h *host) (wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if next := h.next(); !h.last.IsZero() && next.After(now) {
		return next.Sub(now)
	}
	h.last = now
	return 0
}

// release frees a slot of a host after a request has ended.
func (p *polite) release(h *host) {
	<-h.slots
	p.removeUser(h)
}

// removeUser decrements the number of users of a host, which p.host
// incremented.
func (p *polite) removeUser(h *host) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.users--
	if h.idle() {
		delete(p.hosts, h.name)
	}
}

// idle reports whether h can be deleted. The host must have no requests, and
// the minimum delay must have passed.
func (h *host) idle() bool { return h.users == 0 && !h.next().After(time.Now()) }

// maxHosts is the number of stored hosts that triggers the deletion of idle
// hosts.
const maxHosts = 4096

func (p *polite) removeIdle() {
	if len(p.hosts) < maxHosts {
		return
	}
	for name, h := range p.hosts {
		if h.idle() {
			delete(p.hosts, name)
		}
	}
}
