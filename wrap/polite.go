package wrap

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/turn"
)

// PoliteOptions limits the requests to each host.
type PoliteOptions struct {
	PerHost int           // maximum number of concurrent requests; 0 means 2
	Delay   time.Duration // minimum time between the starts of two requests

	// MaxPerHost, if larger than PerHost, is the maximum number of concurrent
	// requests to a distant HTTP/1.1 server. The number rises from PerHost while
	// each increase brings more responses per second, and returns to PerHost
	// after a transient error. It does not rise if there is a minimum time between
	// requests. A server may reject requests that are too many, so the program
	// needs [Retry].
	MaxPerHost int

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
	name    string
	slots   slots                          // requests in progress, at most PerHost
	growth  growth                         // further requests to a distant server
	extra   slots                          // further requests to servers with HTTP/2 or HTTP/3
	streams map[fetch.Origin]chan struct{} // closed if the last response used HTTP/2 or HTTP/3
	users   int                            // number of requests that wait or are in progress
	delay   time.Duration                  // result of DelayOf for the latest request, or Delay
	rule    time.Duration                  // longest result of the Rule
	last    time.Time                      // start of the last request; zero before the first request
}

// slots contains one element for each request in progress. Its capacity is the
// maximum number of requests.
type slots chan struct{}

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
	origin := target.Origin()
	h, more := p.host(origin, base, delay, turn.Of(ctx).Streams)
	used, begun, err := p.acquire(ctx, h, more)
	if err != nil {
		p.removeUser(h)
		return nil, err
	}
	sent, changes, inProgress := time.Now(), p.changes(h), false
	defer func() {
		if !inProgress { // next failed or panicked
			p.release(h, used)
		}
	}()
	resp, err := next.Do(turn.WithPause(ctx, func(ctx context.Context) { p.startAgain(ctx, h, begun) }), req)
	if err != nil {
		if sentNothing(err) {
			p.cancelStart(h, begun)
		}
		p.fail(h, origin, err, changes)
		return nil, err
	}
	inProgress = true
	p.setStreams(ctx, h, origin, strings.HasPrefix(resp.Proto, "HTTP/2") || resp.Proto == "HTTP/3")
	wait, grows := time.Since(sent), strings.HasPrefix(resp.Proto, "HTTP/1")
	resp.Body = &observedBody{ReadCloser: resp.Body, onEnd: func(_ int64, err error) {
		if err = cmp.Or(resp.Fault, err); err != nil {
			p.fail(h, origin, err, changes)
		} else if grows {
			p.grow(ctx, h, origin, wait, time.Since(sent))
		}
		p.release(h, used)
	}}
	return resp, nil
}

// sentNothing reports whether the Policy denied a request because of its
// address or its source, so that no byte was sent to the server.
func sentNothing(err error) bool {
	_, denied := errors.AsType[*fetch.Refusal](err)
	return denied && (errors.Is(err, fetch.BadAddress) || errors.Is(err, fetch.BadReferral))
}

// A start records when a request to a host has started, and when the previous
// one had started. The mutex of polite protects it.
type start struct{ previous, at time.Time }

// cancelStart removes a start, so that the next request to the host does not
// wait for a request that was not sent.
func (p *polite) cancelStart(h *host, s *start) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h.last.Equal(s.at) {
		h.last = s.previous
	}
}

// startAgain replaces the start s of a request that was not yet sent, because it
// waited for a connection. It waits for the minimum delay. If ctx is done, the
// start is not replaced.
func (p *polite) startAgain(ctx context.Context, h *host, s *start) {
	p.cancelStart(h, s)
	p.waitForStart(ctx, h, s)
}

// acquire waits for a free slot of a host and then for the minimum delay. It
// returns the slots that contain the request.
func (p *polite) acquire(ctx context.Context, h *host, more further) (slots, *start, error) {
	used, err := h.acquire(ctx, more)
	if err != nil {
		return nil, nil, err
	}
	s := new(start)
	if !p.waitForStart(ctx, h, s) {
		p.free(h, used)
		return nil, nil, context.Cause(ctx)
	}
	return used, s, nil
}

// waitForStart waits for the minimum delay and starts a request to the host. It
// returns false if ctx is done before.
func (p *polite) waitForStart(ctx context.Context, h *host, s *start) bool {
	for {
		wait := p.start(h, s)
		if wait <= 0 {
			return true
		}
		if !sleep(ctx, wait) {
			return false
		}
	}
}

// A further contains the slots of a host that only requests to one server use.
type further struct {
	grown   slots           // slots of the growth; nil for another server
	extra   slots           // slots that may be used when the channel streams is closed
	streams <-chan struct{} // nil means never
}

// acquire waits for a free slot. When the channel Turn of [turn.Limits] is closed,
// no slot is necessary.
func (h *host) acquire(ctx context.Context, more further) (slots, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if used := h.freeSlot(more); used != nil {
		return used, nil
	}
	var extra slots // nil blocks
	atOnce := turn.Of(ctx).Turn
	for {
		select {
		case h.slots <- struct{}{}:
			return h.slots, nil
		case more.grown <- struct{}{}:
			return more.grown, nil
		case extra <- struct{}{}:
			return extra, nil
		case <-more.streams:
			extra, more.streams = more.extra, nil
		case <-atOnce:
			own := make(slots, 1)
			own <- struct{}{}
			return own, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// freeSlot returns the slots that contain the request, or nil if no slot is
// free.
func (h *host) freeSlot(more further) slots {
	select {
	case h.slots <- struct{}{}:
		return h.slots
	case <-more.streams:
	default:
		more.extra = nil
	}
	for _, s := range []slots{h.slots, more.grown, more.extra} {
		select {
		case s <- struct{}{}:
			return s
		default:
		}
	}
	return nil
}

// host returns the counters of a host and adds a new request to them. The
// parameter delay is the result of DelayOf, or Delay, and rule is the result of
// the Rule. The parameter streams is the maximum number of requests over HTTP/2 or
// HTTP/3.
func (p *polite) host(o fetch.Origin, delay, rule time.Duration, streams int) (h *host, more further) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h, ok := p.hosts[o.Host]
	if !ok {
		p.removeIdle()
		h = &host{
			name: o.Host, slots: make(slots, p.PerHost), extra: make(slots, max(streams-p.PerHost, 0)),
			growth: newGrowth(o, p.PerHost, p.MaxPerHost), streams: map[fetch.Origin]chan struct{}{},
		}
		p.hosts[o.Host] = h
	}
	h.users++
	h.delay, h.rule = delay, max(h.rule, rule)
	if h.streams[o] == nil && cap(h.extra) > 0 {
		h.streams[o] = make(chan struct{})
	}
	more = further{extra: h.extra, streams: h.streams[o]}
	if o == h.growth.origin {
		more.grown = h.growth.slots
	}
	return h, more
}

// setStreams records whether the last response of a server used HTTP/2 or HTTP/3.
func (p *polite) setStreams(ctx context.Context, h *host, o fetch.Origin, used bool) {
	if cap(h.extra) == 0 {
		return
	}
	if p.changeStreams(h, o, used) {
		turn.Of(ctx).Accepted()
	}
}

// changeStreams is like setStreams, and reports whether the server now accepts
// more requests.
func (p *polite) changeStreams(h *host, o fetch.Origin, used bool) (more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-h.streams[o]:
		if !used {
			h.streams[o] = make(chan struct{})
		}
		return false
	default:
		if used {
			close(h.streams[o])
		}
		return used
	}
}

// start starts a request to the host and sets s, if the minimum delay has passed.
// Otherwise it returns the time to wait before the next attempt.
func (p *polite) start(h *host, s *start) (wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if next := h.next(); !h.last.IsZero() && next.After(now) {
		return next.Sub(now)
	}
	*s = start{h.last, now}
	h.last = now
	return 0
}

// release frees a slot of a host after a request has ended.
func (p *polite) release(h *host, used slots) {
	p.free(h, used)
	p.removeUser(h)
}

// free frees a slot of a host.
func (p *polite) free(h *host, used slots) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if used == h.slots || used == h.growth.slots {
		h.growth.free(used, h.slots)
	} else {
		<-used
	}
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
