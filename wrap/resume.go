package wrap

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// progress is what renews the attempts of a request. A server that gives a
// byte an attempt does not keep us for ever.
const renewAfter = 1 << 20

// resumable returns resp with a Body that continues where it breaks off, if
// that can be done.
func (r *retrier) withResume(ctx context.Context, t *attempts, resp *fetch.Response) *fetch.Response {
	req := t.req
	recorded := req.Trace != nil && req.Trace.Restart != nil
	if r.Attempts < 2 || recorded || req.Op != fetch.Get || resp.Validator == "" || resp.Kind != fetch.Document ||
		resp.Unchanged || !resp.Location.IsZero() || resp.Input != nil {
		return resp
	}
	resp.Body = &resumingBody{
		next: r.next, attempts: *t, ctx: ctx, offset: resp.Offset, body: resp.Body,
		kind: resp.Kind, size: resp.Size, validator: resp.Validator,
	}
	return resp
}

// resuming is a Body that asks for its rest when it breaks off.
type resumingBody struct {
	next     fetch.Driver
	attempts attempts
	ctx      context.Context // of the request, and once the rest was asked for of that

	kind      fetch.Kind // of the object, as it began
	size      int64
	validator string

	offset   int64 // where in the object the next byte stands
	received int64 // bytes since the last attempt
	pending  error // came with the last bytes
	err      error // sticky

	mu       sync.Mutex // guards what is below, for Close may come at any time
	body     io.ReadCloser
	cancel   context.CancelFunc // ends ctx; nil while nothing has broken off
	closed   bool
	closeErr error
}

func (b *resumingBody) Read(p []byte) (int, error) {
	for {
		if b.err != nil {
			return 0, b.err
		}
		n, err := 0, b.pending
		b.pending = nil
		if err == nil {
			n, err = b.current().Read(p)
			b.offset, b.received = b.offset+int64(n), b.received+int64(n)
		}
		switch {
		case err == nil:
			return n, nil
		case err == io.EOF:
			b.err = err
			return n, err
		case n > 0: // first what came, then the trouble
			b.pending = err
			return n, nil
		case b.attempts.req.Range.End > 0 && b.offset >= b.attempts.req.Range.End: // a rest of no bytes cannot be asked for
			b.err = io.EOF
			return 0, b.err
		}
		b.err = b.resume(err)
	}
}

func (b *resumingBody) current() io.ReadCloser {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.body
}

// resume asks for the rest until it comes. Where it does not, broken, the
// error that made it necessary, stands.
func (b *resumingBody) resume(broken error) error {
	if b.received >= renewAfter {
		b.attempts.renew()
	}
	b.received = 0
	b.makeCancelable()
	b.replace(emptyBody)
	for cause := broken; ; {
		wait, ok := b.attempts.next(b.ctx, cause)
		if !ok || !sleep(b.ctx, wait) {
			return broken
		}
		resp, err := b.next.Do(b.ctx, b.remainderRequest())
		if err == nil && resp.Fault != nil {
			resp.Body.Close()
			err = resp.Fault
		}
		if err != nil {
			cause = err
			continue
		}
		if !b.continues(resp) {
			resp.Body.Close()
			return fetch.Truncated.Errorf("cannot be resumed, as the object has changed: %w", broken)
		}
		b.replace(resp.Body)
		return nil
	}
}

// rest is the request for what is missing. Its other conditions held when the
// object began.
func (b *resumingBody) remainderRequest() *fetch.Request {
	req := b.attempts.req.Clone()
	end := req.Range.End
	if req.Range.First < 0 {
		end = 0
	}
	req.Range = fetch.Range{First: b.offset, End: end}
	req.IfSame, req.IfNot = b.validator, ""
	req.Since, req.Before = time.Time{}, time.Time{}
	return req
}

// continues reports whether resp goes on with the same object at the byte
// where it broke off. That nothing comes after the last byte that was
// announced needs no validator: an answer of 416 has none (RFC 9110 15.5.17).
func (b *resumingBody) continues(resp *fetch.Response) bool {
	size := resp.Size == b.size || resp.Size < 0 || b.size < 0
	same := resp.Validator == b.validator || resp.Validator == "" && b.offset == b.size
	return resp.Offset == b.offset && size && same &&
		resp.Kind == b.kind && resp.Location.IsZero() && !resp.Unchanged
}

// nothing stands in for a body between two.
var emptyBody = io.NopCloser(strings.NewReader(""))

// replace closes the body and puts another in its place, which is closed too
// if the caller has closed meanwhile.
func (b *resumingBody) replace(body io.ReadCloser) {
	b.mu.Lock()
	if !b.closed {
		b.body, body = body, b.body
	}
	b.mu.Unlock() // so that Close can end what this waits for
	body.Close()
}

// cancellable has Close end what comes now, a wait too. Most bodies never
// need it.
func (b *resumingBody) makeCancelable() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cancel == nil {
		b.ctx, b.cancel = context.WithCancel(b.ctx)
	}
	if b.closed {
		b.cancel()
	}
}

// Close ends what is under way.
func (b *resumingBody) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cancel != nil {
		b.cancel()
	}
	if !b.closed {
		b.closed = true
		b.closeErr = b.body.Close()
	}
	return b.closeErr
}
