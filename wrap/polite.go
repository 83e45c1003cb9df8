package wrap

import (
	"context"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// PoliteOptions say what a host has to bear.
type PoliteOptions struct {
	PerHost int           // requests at a time; 0: 2
	Delay   time.Duration // from the beginning of a request to that of the next

	// Rule, if not nil, makes what is asked before each request. Robots is one.
	// What it needs to know it asks of next, which waits as others do.
	Rule func(next fetch.Driver) Rule
}

// A Rule says whether req may be made, and how long its host wants to be left
// alone between two requests. An error refuses it; a longer delay than
// PoliteOptions.Delay counts for the host from then on.
type Rule func(ctx context.Context, req *fetch.Request) (time.Duration, error)

// Polite makes requests to one host wait for each other; those whose URL
// names none pass. A request holds its
// place until its Body has ended or is closed: who reads a listing and asks
// the same host for what is in it needs a second place, or closes first.
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

// host is one that somebody asks, or asked not long ago.
type host struct {
	name  string
	slots chan struct{} // one in it for each request under way
	users int           // requests that wait or are under way
	delay time.Duration
	next  time.Time // when the next request may begin
}

func (p *polite) do(ctx context.Context, next fetch.Driver, req *fetch.Request, delay time.Duration) (*fetch.Response, error) {
	target, err := fetch.TargetOf(req.URL, 0)
	if err != nil || target.Host == "" { // refused within, or no network
		return next.Do(ctx, req)
	}
	h := p.host(target.Origin().Host, max(p.Delay, delay))
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

// enter waits for a place at h and for its time.
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
	if !sleep(ctx, p.reserveStart(h)) {
		<-h.slots
		return context.Cause(ctx)
	}
	return nil
}

func (p *polite) host(name string, delay time.Duration) *host {
	p.mu.Lock()
	defer p.mu.Unlock()
	h, ok := p.hosts[name]
	if !ok {
		p.removeIdle()
		h = &host{name: name, slots: make(chan struct{}, p.PerHost)}
		p.hosts[name] = h
	}
	h.users++
	h.delay = max(h.delay, delay)
	return h
}

// turn takes the next time at which a request may begin, and tells how far
// off it is.
func (p *polite) reserveStart(h *host) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h.delay == 0 {
		return 0
	}
	now := time.Now()
	if h.next.Before(now) {
		h.next = now
	}
	wait := h.next.Sub(now)
	h.next = h.next.Add(h.delay)
	return wait
}

// leave gives up a place at h.
func (p *polite) release(h *host) {
	<-h.slots
	p.removeUser(h)
}

// forgo ends what p.host began.
func (p *polite) removeUser(h *host) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.users--
	if h.idle() {
		delete(p.hosts, h.name)
	}
}

// idle reports whether h has no more to remember than a new one.
func (h *host) idle() bool { return h.users == 0 && !h.next.After(time.Now()) }

// maxHosts is how many hosts are remembered before those are looked for that
// need not be.
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
