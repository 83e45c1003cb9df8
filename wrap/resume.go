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
const progress = 1 << 20

// resumable returns resp with a Body that continues where it breaks off, if
// that can be done.
func (r *retrier) resumable(ctx context.Context, t *tries, resp *fetch.Response) *fetch.Response {
	req := t.req
	recorded := req.Trace != nil && req.Trace.Restart != nil
	if r.Attempts < 2 || recorded || req.Op != fetch.Get || resp.Validator == "" || resp.Kind != fetch.Document ||
		resp.Unchanged || !resp.Location.IsZero() || resp.Input != nil {
		return resp
	}
	resp.Body = &resuming{
		next: r.next, tries: *t, ctx: ctx, at: resp.Offset, body: resp.Body,
		kind: resp.Kind, size: resp.Size, validator: resp.Validator,
	}
	return resp
}

// resuming is a Body that asks for its rest when it breaks off.
type resuming struct {
	next  fetch.Driver
	tries tries
	ctx   context.Context // of the request, and once the rest was asked for of that

	kind      fetch.Kind // of the object, as it began
	size      int64
	validator string

	at      int64 // where in the object the next byte stands
	gained  int64 // bytes since the last attempt
	pending error // came with the last bytes
	err     error // sticky

	mu       sync.Mutex // guards what is below, for Close may come at any time
	body     io.ReadCloser
	cancel   context.CancelFunc // ends ctx; nil while nothing has broken off
	closed   bool
	closeErr error
}

func (b *resuming) Read(p []byte) (int, error) {
	for {
		if b.err != nil {
			return 0, b.err
		}
		n, err := 0, b.pending
		b.pending = nil
		if err == nil {
			n, err = b.current().Read(p)
			b.at, b.gained = b.at+int64(n), b.gained+int64(n)
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
		case b.tries.req.Range.End > 0 && b.at >= b.tries.req.Range.End: // a rest of no bytes cannot be asked for
			b.err = io.EOF
			return 0, b.err
		}
		b.err = b.resume(err)
	}
}

func (b *resuming) current() io.ReadCloser {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.body
}

// resume asks for the rest until it comes. Where it does not, broken, the
// error that made it necessary, stands.
func (b *resuming) resume(broken error) error {
	if b.gained >= progress {
		b.tries.renew()
	}
	b.gained = 0
	b.cancellable()
	b.replace(nothing)
	for cause := broken; ; {
		wait, ok := b.tries.again(b.ctx, cause)
		if !ok || !sleep(b.ctx, wait) {
			return broken
		}
		resp, err := b.next.Do(b.ctx, b.rest())
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
func (b *resuming) rest() *fetch.Request {
	req := b.tries.req.Clone()
	end := req.Range.End
	if req.Range.First < 0 {
		end = 0
	}
	req.Range = fetch.Range{First: b.at, End: end}
	req.IfSame, req.IfNot = b.validator, ""
	req.Since, req.Before = time.Time{}, time.Time{}
	return req
}

// continues reports whether resp goes on with the same object at the byte
// where it broke off. That nothing comes after the last byte that was
// announced needs no validator: an answer of 416 has none (RFC 9110 15.5.17).
func (b *resuming) continues(resp *fetch.Response) bool {
	size := resp.Size == b.size || resp.Size < 0 || b.size < 0
	same := resp.Validator == b.validator || resp.Validator == "" && b.at == b.size
	return resp.Offset == b.at && size && same &&
		resp.Kind == b.kind && resp.Location.IsZero() && !resp.Unchanged
}

// nothing stands in for a body between two.
var nothing = io.NopCloser(strings.NewReader(""))

// replace closes the body and puts another in its place, which is closed too
// if the caller has closed meanwhile.
func (b *resuming) replace(body io.ReadCloser) {
	b.mu.Lock()
	if !b.closed {
		b.body, body = body, b.body
	}
	b.mu.Unlock() // so that Close can end what this waits for
	body.Close()
}

// cancellable has Close end what comes now, a wait too. Most bodies never
// need it.
func (b *resuming) cancellable() {
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
func (b *resuming) Close() error {
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
