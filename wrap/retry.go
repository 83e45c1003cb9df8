package wrap

import (
	"context"
	"errors"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/proxy"
)

// RetryOptions configures when and how often a failed request is sent again.
type RetryOptions struct {
	Attempts int           // maximum number of attempts, including the first one; 0 means 4
	Total    time.Duration // time after which no attempt starts; 0 means 10 minutes, negative means no limit

	// Delay is the time between two attempts. If it is 0, the time is random,
	// at first up to 0.5 seconds. This maximum doubles after each attempt, up
	// to one minute.
	Delay time.Duration

	// If AllErrors is true, requests that failed permanently are also retried,
	// for example if the object is missing or the server is not trusted. Errors
	// of the Policy, local errors, usage errors and rejected passwords are
	// never retried.
	AllErrors bool

	Jitter func() float64 // returns a random number in [0, 1); nil means math/rand/v2

	// Notify, if not nil, is called before each delay with the context of the
	// request. It must be safe for concurrent use.
	Notify func(ctx context.Context, a Attempt)
}

// An Attempt describes a failed attempt that will be retried.
type Attempt struct {
	Request   *fetch.Request
	Count     int           // number of attempts so far, including this one
	Remaining int           // maximum number of further attempts after errors of this kind
	Wait      time.Duration // time until the next attempt
	Err       error
}

const (
	firstDelay    = 500 * time.Millisecond
	maxDelay      = time.Minute
	maxRetryAfter = 10 * time.Minute
)

// Retry returns a middleware that retries requests after transient errors, as
// reported by fetch.Retryable. It waits for a random delay, or for the time
// that the server requested, up to ten minutes.
//
// If a server or a proxy refuses a connection, Retry tries only once more. If a
// proxy does not support the connection, Retry does not retry. Interactive
// sessions (telnet, rlogin, tn3270) are not retried, because the user can
// reconnect. AllErrors disables these three rules. A request with the field
// Outgoing is never retried, because its program does that.
//
// If the transfer of a Document is interrupted and its Response has a
// Validator, Retry resumes the transfer at the next byte. If the server repeats
// the complete object with this Validator, Retry skips the first bytes.
// Otherwise Read returns the error, and the caller can start again. Read never
// returns a byte twice. If at least 1 MiB was received since the last interruption, Retry
// resets the number of attempts and their total time.
//
// If the Trace of a request has Restart, Retry calls Restart before each retry.
// It does not resume the body of such a request.
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

// WaitRetry reports whether to send req again after the error err, and waits
// for the delay before the next attempt. It is intended for callers that resume
// transfers themselves, such as save.Transfer. The parameter n is the number of
// attempts so far, and began is the start of the first attempt. The parameter err
// is the error of the last attempt. WaitRetry returns false if err is from a body
// for which Retry has made all attempts.
func (o RetryOptions) WaitRetry(ctx context.Context, req *fetch.Request, began time.Time, n int, err error) bool {
	if _, done := errors.AsType[*exhaustedError](err); done {
		return false
	}
	o = o.withDefaults()
	t := attempts{RetryOptions: &o, req: req, start: began, count: n - 1}
	wait, ok := t.next(ctx, err)
	return ok && sleep(ctx, wait)
}

type retrier struct {
	RetryOptions
	next fetch.Driver
}

// WithoutRetry returns a context whose requests Retry neither retries nor
// resumes. Callers that have other sources of an object use it.
func WithoutRetry(ctx context.Context) context.Context {
	return context.WithValue(ctx, onceKey{}, true)
}

type onceKey struct{}

func (r *retrier) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	if ctx.Value(onceKey{}) != nil || req.Outgoing != nil {
		return r.next.Do(ctx, req)
	}
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

// attempts counts the attempts for one request.
type attempts struct {
	*RetryOptions
	req         *fetch.Request
	start       time.Time
	count       int  // attempts since the last reset by renew
	earlier     int  // attempts before the last reset
	connRefused bool // a connection was refused
}

func (r *retrier) newAttempts(req *fetch.Request) attempts {
	return attempts{RetryOptions: &r.RetryOptions, req: req, start: time.Now()}
}

// renew resets the number of attempts and their total time.
func (t *attempts) renew() {
	t.earlier += t.count
	t.start, t.count, t.connRefused = time.Now(), 0, false
}

// next decides whether to send the request again after the error err. If so, it
// calls Notify and returns the delay.
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

// isWorthRetry reports whether another attempt may succeed after the error err.
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

// isRefused reports whether a server or a proxy refused a connection.
func isRefused(err error) bool {
	var no *proxy.RefusedError
	return errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &no)
}

// isRetryableFault reports whether an error with the Fault f is retried if
// RetryOptions.AllErrors is set.
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
	if t.count <= 7 { // the delay is longer than maxDelay for later attempts
		limit = min(limit, firstDelay<<(t.count-1))
	}
	return time.Duration(t.Jitter() * float64(limit))
}

// sleep waits for the duration d. It returns false if the context ends first.
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
