package wrap

import (
	"context"
	"errors"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/proxy"
)

// RetryOptions say how often and when a request is made again.
type RetryOptions struct {
	Attempts int           // in all, the first one too; 0: 4
	Delay    time.Duration // before each further attempt; 0: random, up to half a second that doubles each time, to a minute at the most
	Total    time.Duration // after which no attempt begins; 0: 10 minutes, negative: no limit

	// All makes again also what failed for good: a missing object, a broken
	// protocol, an untrusted peer. What the Policy, this machine or the call
	// itself refuses is never made again, and no password is tried twice.
	AllErrors bool

	Jitter func() float64 // in [0, 1); nil: math/rand/v2

	// Notify, if not nil, is called before each wait, with the context of the
	// request. It must be safe for concurrent use.
	Notify func(ctx context.Context, a Attempt)
}

// An Attempt is one that failed and that another one follows.
type Attempt struct {
	Request   *fetch.Request
	Count     int           // attempts so far, this one included
	Remaining int           // further attempts at the most, if they fail with errors of this kind
	Wait      time.Duration // until the next one
	Err       error
}

const (
	firstDelay    = 500 * time.Millisecond
	maxDelay      = time.Minute
	maxRetryAfter = 10 * time.Minute
)

// Retry makes a request again while its error may pass (fetch.Retryable):
// after a random delay, or after the time for which the server asked, ten
// minutes at the most. A connection that was refused, by a proxy too, is tried
// once more only, and one that the proxy has no means for is not. Nor is a session
// (telnet, rlogin, tn3270) begun again: whoever sits before it does that.
//
// A Document that breaks off is resumed where its Response has a Validator
// and the new answer continues the same object at the exact byte. Otherwise
// the error stands: nothing that was read is ever repeated, and to begin anew
// is for the caller. A megabyte of progress renews the attempts and the time.
//
// A request with a Trace.Restart is recorded as one exchange: Again is called
// before an attempt that replaces another, and its body is not resumed.
func Retry(o RetryOptions) fetch.Middleware {
	o = o.withDefaults()
	return func(next fetch.Driver) fetch.Driver { return &retrier{o, next} }
}

func (o RetryOptions) withDefaults() RetryOptions {
	if o.Attempts == 0 {
		o.Attempts = 4
	}
	if o.Total == 0 {
		o.Total = 10 * time.Minute
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	return o
}

// Again is for a caller that repeats req where Retry could not resume its body,
// as save.Transfer does. The first of n attempts began at began, and the last
// one failed with err. Again waits and reports whether to repeat req.
func (o RetryOptions) WaitRetry(ctx context.Context, req *fetch.Request, began time.Time, n int, err error) bool {
	o = o.withDefaults()
	t := attempts{RetryOptions: &o, req: req, start: began, count: n - 1}
	wait, ok := t.next(ctx, err)
	return ok && sleep(ctx, wait)
}

type retrier struct {
	RetryOptions
	next fetch.Driver
}

func (r *retrier) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	t := r.newAttempts(req)
	for {
		resp, err := r.next.Do(ctx, req)
		cause := err
		if err == nil {
			cause = resp.Fault
		}
		if cause == nil {
			return r.withResume(ctx, &t, resp), nil
		}
		wait, ok := t.next(ctx, cause)
		if !ok {
			return resp, err
		}
		if err == nil {
			resp.Body.Close()
		}
		req.Trace.Restarted()
		if !sleep(ctx, wait) {
			return nil, context.Cause(ctx)
		}
	}
}

// tries counts what was tried for one request.
type attempts struct {
	*RetryOptions
	req         *fetch.Request
	start       time.Time
	count       int  // attempts, since there was progress
	earlier     int  // attempts before that
	connRefused bool // a connection was
}

func (r *retrier) newAttempts(req *fetch.Request) attempts {
	return attempts{RetryOptions: &r.RetryOptions, req: req, start: time.Now()}
}

// renew forgets what failed before there was progress.
func (t *attempts) renew() {
	t.earlier += t.count
	t.start, t.count, t.connRefused = time.Now(), 0, false
}

// again decides after an attempt that failed, and tells whom it concerns.
func (t *attempts) next(ctx context.Context, err error) (wait time.Duration, ok bool) {
	t.count++
	if t.count >= t.Attempts || ctx.Err() != nil || t.req.Scheme().Traits.Session && !t.AllErrors || !t.isWorthRetry(err) {
		return 0, false
	}
	wait = t.delay(err)
	if t.Total > 0 && time.Since(t.start)+wait > t.Total {
		return 0, false
	}
	if t.Notify != nil {
		a := Attempt{Request: t.req, Count: t.earlier + t.count, Remaining: t.Attempts - t.count, Wait: wait, Err: err}
		if isRefused(err) && !t.AllErrors {
			a.Remaining = 1
		}
		t.Notify(ctx, a)
	}
	return wait, true
}

// worth reports whether another attempt may end otherwise than with err.
func (t *attempts) isWorthRetry(err error) bool {
	var no *proxy.RefusedError
	if errors.As(err, &no) && no.Unsupported() {
		return t.AllErrors
	}
	if isRefused(err) {
		before := t.connRefused
		t.connRefused = true
		return !before || t.AllErrors
	}
	return fetch.Retryable(err) || t.AllErrors && isRetryableFault(fetch.FaultOf(err))
}

// isRefused reports whether a connection was refused, by a proxy perhaps.
func isRefused(err error) bool {
	var no *proxy.RefusedError
	return errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &no)
}

// passing are the faults of others, which RetryOptions.All hopes will pass.
func isRetryableFault(f fetch.Fault) bool {
	switch f {
	case fetch.DNS, fetch.Connect, fetch.Timeout, fetch.TLS, fetch.Protocol, fetch.NotFound, fetch.TryLater,
		fetch.Denied, fetch.Truncated, fetch.Mismatch:
		return true
	}
	return false
}

func (t *attempts) delay(err error) time.Duration {
	var e *fetch.Error
	switch {
	case errors.As(err, &e) && e.RetryAfter > 0:
		return min(e.RetryAfter, maxRetryAfter)
	case t.Delay > 0:
		return t.Delay
	}
	limit := maxDelay
	if t.count <= 7 { // later it is more than maxDelay
		limit = min(limit, firstDelay<<(t.count-1))
	}
	return time.Duration(t.Jitter() * float64(limit))
}

// sleep reports whether d passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
