package wrap

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/splice"
)

// renewAfter is the number of bytes that an attempt must receive to reset the
// number of attempts. With a smaller value, a server could cause endless
// attempts.
const renewAfter = 1 << 20

// withResume replaces the body of a response by a body that resumes interrupted
// transfers. It returns the response unchanged if resuming is not possible.
func (r *retrier) withResume(ctx context.Context, t *attempts, resp *fetch.Response) *fetch.Response {
	req := t.req
	recorded := req.Trace != nil && req.Trace.Restart != nil
	if r.Attempts < 2 || recorded || req.Op != fetch.Get || resp.Validator == "" || resp.Kind != fetch.Document ||
		resp.Unchanged || !resp.Location.IsZero() || resp.Input != nil {
		return resp
	}
	resp.Body = &resumingBody{
		next: r.next, attempts: *t, ctx: ctx, offset: resp.Offset, body: resp.Body,
		kind: resp.Kind, size: resp.Size, validator: resp.Validator, end: requestedEnd(req, resp),
	}
	return resp
}

// requestedEnd returns the offset after the last byte of the body, or 0 if the
// body extends to the end of the object.
func requestedEnd(req *fetch.Request, resp *fetch.Response) int64 {
	if req.Range.First < 0 || req.Scheme().Traits.Web && ignoresRange(resp) {
		return 0
	}
	return req.Range.End
}

// A resumingBody is a response body that requests the missing bytes after an
// interruption.
type resumingBody struct {
	next     fetch.Driver
	attempts attempts
	ctx      context.Context // of the request; cancelable after makeCancelable

	kind      fetch.Kind // of the first response
	size      int64
	validator string
	end       int64 // from requestedEnd

	offset   int64 // offset of the next byte in the object
	received int64 // bytes received since the last attempt
	pending  error // error that the body returned together with the last bytes
	err      error // error that ended reading; returned by all later reads

	mu       sync.Mutex // guards the fields below, because Close can be called at any time
	body     io.ReadCloser
	cancel   context.CancelFunc // cancels ctx; nil before the first interruption
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
		case n > 0: // return the bytes first, then the error
			b.pending = err
			return n, nil
		case b.end > 0 && b.offset >= b.end: // an empty range cannot be requested
			b.err = io.EOF
			return 0, b.err
		}
		b.err = b.resume(err)
	}
}

// CanReadPipe implements splice.Source.
func (b *resumingBody) CanReadPipe() bool {
	return b.err == nil && b.pending == nil && splice.CanRead(b.current())
}

// ReadPipe implements splice.Source. After an interruption, the next bytes must
// be read with Read, which resumes the transfer.
func (b *resumingBody) ReadPipe(p *splice.Pipe, limit int) (int, error) {
	n, err := splice.Read(b.current(), p, limit)
	b.offset, b.received = b.offset+int64(n), b.received+int64(n)
	if err == io.EOF {
		b.err = err
		return n, err
	}
	b.pending = err
	return n, nil
}

// An exhaustedError reports that the last attempt to resume a body failed.
// WaitRetry then returns false, because further retries would multiply the
// number of attempts.
type exhaustedError struct{ error }

func (e *exhaustedError) Unwrap() error { return e.error }

func (b *resumingBody) current() io.ReadCloser {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.body
}

// resume requests the missing bytes until a request succeeds. If all attempts
// fail, it returns broken, the error that interrupted the transfer.
func (b *resumingBody) resume(broken error) error {
	if b.received >= renewAfter {
		b.attempts.renew()
	}
	b.received = 0
	b.makeCancelable()
	b.replace(emptyBody)
	for cause := broken; ; {
		wait, ok := b.attempts.next(b.ctx, cause)
		if !ok && b.attempts.count >= b.attempts.Attempts {
			return &exhaustedError{broken}
		}
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
		skip, ok := b.overlap(resp)
		if !ok {
			resp.Body.Close()
			return fetch.Truncated.Errorf("cannot be resumed, as the object has changed: %w", broken)
		}
		b.replace(resp.Body)
		if cause = discard(resp.Body, skip); cause == nil {
			return nil
		}
		b.replace(emptyBody)
	}
}

// discard reads n bytes of body.
func discard(body io.Reader, n int64) error {
	_, err := io.CopyN(io.Discard, body, n)
	if err == io.EOF {
		return fetch.Truncated.With(io.ErrUnexpectedEOF)
	}
	return err
}

// remainderRequest returns the request for the missing bytes. It omits the
// other conditions of the request, because they were checked for the first
// response.
func (b *resumingBody) remainderRequest() *fetch.Request {
	req := b.attempts.req.Clone()
	req.Range = fetch.Range{First: b.offset, End: b.end}
	req.IfSame, req.IfNot = b.validator, ""
	req.Since, req.Before = time.Time{}, time.Time{}
	return req
}

// overlap returns the number of bytes at the start of resp that the caller has
// already read. It is 0 if resp starts at the missing bytes. A server without
// support for ranges repeats the complete object. The result ok is false if
// resp is not the same version of the object.
//
// As in package save, the server need not repeat the validator in its response
// to If-Range. At offset 0 it must, because the request then has no range, and
// the response can contain any version.
func (b *resumingBody) overlap(resp *fetch.Response) (n int64, ok bool) {
	if resp.Size != b.size && resp.Size >= 0 && b.size >= 0 ||
		resp.Kind != b.kind || !resp.Location.IsZero() || resp.Unchanged {
		return 0, false
	}
	same := resp.Validator == b.validator
	switch resp.Offset {
	case b.offset:
		return 0, same || resp.Validator == "" && b.offset > 0
	case 0:
		return b.offset, same && b.end == 0
	}
	return 0, false
}

// emptyBody is the body of a resumingBody while no request is in progress.
var emptyBody = io.NopCloser(strings.NewReader(""))

// replace closes the old body and stores the new body. If the caller has
// already closed the resumingBody, replace closes the new body instead.
func (b *resumingBody) replace(body io.ReadCloser) {
	b.mu.Lock()
	if !b.closed {
		b.body, body = body, b.body
	}
	b.mu.Unlock() // so that Close can interrupt the following call
	body.Close()
}

// makeCancelable sets b.cancel, so that Close can cancel later requests and
// delays. It is called at the first interruption, because most bodies are never
// interrupted.
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

// Close closes the body and cancels a request that resumes the transfer.
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
