package fetch

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/anyurl/fetch/internal/wire/splice"
	"github.com/anyurl/fetch/uri"
)

// body is the Response.Body that a Client returns. It enforces Policy.MaxBody,
// compares the number of bytes with the announced length, and adds the URL to
// errors.
type body struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelFunc
	policy *Policy
	url    string

	remaining int64 // bytes that are still expected; -1 if unknown
	total     int64 // bytes read so far
	err       error // the error that ended reading; returned by all later reads
	closing   sync.Once
	closeErr  error
}

func newBody(ctx context.Context, cancel context.CancelFunc, p *Policy, req *Request, resp *Response) *body {
	b := &body{ReadCloser: resp.Body, ctx: ctx, cancel: cancel, policy: p, url: resp.URL.String(), remaining: -1}
	if resp.Fault == nil && resp.Location.IsZero() {
		b.remaining = expectedLength(req, resp)
	}
	return b
}

// expectedLength returns the announced length of the response body in bytes, or
// -1 if the response does not announce it.
func expectedLength(req *Request, resp *Response) int64 {
	if resp.Size < 0 || req.Op != Get || resp.Unchanged {
		return -1
	}
	first, end, _ := req.Range.Bounds(resp.Size)
	switch {
	case resp.Offset != first:
		end = resp.Size // the server ignored the range and sends the complete object
	case first == 0 && end < resp.Size && req.IfSame != "" && req.IfSame != resp.Validator:
		return -1 // the range, or the complete object if it has changed
	}
	return max(end-resp.Offset, 0)
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	if b.ctx.Err() != nil { // also after Close
		b.err = b.wrapReadError(context.Cause(b.ctx))
		return 0, b.err
	}
	return b.received(b.ReadCloser.Read(p))
}

// CanReadPipe implements splice.Source. It returns false when the body has
// reached its limit, because only Read discards further bytes.
func (b *body) CanReadPipe() bool {
	return b.err == nil && b.pipeLimit(1) > 0 && splice.CanRead(b.ReadCloser)
}

// ReadPipe implements splice.Source.
func (b *body) ReadPipe(p *splice.Pipe, limit int) (int, error) {
	return b.received(splice.Read(b.ReadCloser, p, b.pipeLimit(limit)))
}

// pipeLimit reduces limit to the number of bytes that may still arrive before
// the body is longer than allowed or announced.
func (b *body) pipeLimit(limit int) int {
	if allowed := b.policy.MaxBody; allowed > 0 {
		limit = int(min(int64(limit), allowed-b.total))
	}
	if b.remaining >= 0 {
		limit = int(min(int64(limit), b.remaining))
	}
	return limit
}

// received counts the n bytes of a read and checks the limits. It returns the
// number of bytes and the error for the caller of Read.
func (b *body) received(n int, err error) (int, error) {
	b.total += int64(n)
	if over := b.total - b.policy.MaxBody; b.policy.MaxBody > 0 && over > 0 && (err == nil || err == io.EOF) {
		n -= int(over)
		err = TooLarge.Errorf("body larger than the limit of %d bytes", b.policy.MaxBody)
	}
	if b.remaining >= 0 {
		n, err = b.checkLength(n, err)
	}
	if err != nil && err != io.EOF {
		err = b.wrapReadError(err)
	}
	b.err = err
	return n, err
}

// checkLength subtracts n from the number of expected bytes. It returns an
// error if the body is longer or shorter than announced.
func (b *body) checkLength(n int, err error) (int, error) {
	if int64(n) > b.remaining {
		n, err = int(b.remaining), Protocol.Errorf("body longer than announced")
	}
	b.remaining -= int64(n)
	if err == io.EOF && b.remaining > 0 {
		err = io.ErrUnexpectedEOF
	}
	if b.remaining > 0 && FaultOf(err) == Truncated {
		err = Truncated.Errorf("received %d of %d bytes: %w", b.total, b.total+b.remaining, err)
	}
	return n, err
}

// wrapReadError adds the operation and the URL to a read error. If the context
// has ended, wrapReadError returns the error of the context instead.
func (b *body) wrapReadError(err error) error {
	if why := contextFault(b.ctx); why != nil && (!errors.Is(err, context.Cause(b.ctx)) || FaultOf(err) == Internal) {
		err = why
	}
	return wrapError("read", b.url, err)
}

// Close ends the transfer. It can be called more than once, and while another
// goroutine is in Read.
func (b *body) Close() error {
	b.closing.Do(func() {
		b.closeErr = b.ReadCloser.Close()
		b.cancel()
	})
	return b.closeErr
}

// wrapError converts err to an Error with the given operation and URL. If a
// driver returned an Error already, wrapError only sets its empty fields.
func wrapError(op, url string, err error) error {
	url = uri.Redact(url)
	if e, ok := err.(*Error); ok {
		done := *e
		if done.Op == "" {
			done.Op = op
		}
		if done.URL == "" {
			done.URL = url
		}
		return &done
	}
	return &Error{Op: op, URL: url, Err: err}
}
