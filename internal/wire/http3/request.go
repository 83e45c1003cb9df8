package http3

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/quic-go/qpack"
	"github.com/quic-go/quic-go"

	"github.com/anyurl/fetch/internal/wire/http3/message"
)

// Limits of a response.
const (
	maxHead    = 300 << 10 // bytes of all header sections together, each field with 32 bytes more, as in curl
	maxFields  = 5000
	maxInterim = 100 // responses with a 1xx status
)

// streamTime is the maximum time in which a server has to allow a stream. Servers
// allow another stream when an earlier one has ended.
const streamTime = time.Second

// RoundTrip sends a request without a body and reads the head of its response.
// The fields start with the pseudo-header fields of HTTP/3, such as ":method".
// The limit is the time until the head is complete. The function sent is called
// after the request was sent, and done is called once, when the stream is no
// longer used. If ctx ends, also reading the body fails.
func (c *Conn) RoundTrip(ctx context.Context, fields []Field, limit time.Duration, sent, done func()) (*Response, error) {
	if !c.Usable() {
		done()
		return nil, c.unsent()
	}
	within, cancel := context.WithTimeout(ctx, min(limit, streamTime))
	defer cancel()
	s, err := c.Conn.OpenStreamSync(within)
	if err != nil {
		done()
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case within.Err() != nil:
			return nil, message.ErrFull
		}
		return nil, c.unsent()
	}
	c.guard.start(s.StreamID())
	frames := newFrameReader(guardedStream{s, s.StreamID(), c.guard})
	b := &Body{stream: s, frames: frames, length: -1, noBody: fields[0].Value == "HEAD"}
	b.done = func(complete bool) { c.guard.end(s.StreamID(), complete); done() }
	b.stop = context.AfterFunc(ctx, func() { cancelStream(s, requestCancelled) }) // the reader then calls release
	resp, err := b.roundTrip(fields, time.Now().Add(limit), sent)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		b.abort(err)
		return nil, err
	}
	return resp, nil
}

// unsent returns the error of a request that was not sent: a TLSError if the
// server has rejected the TLS handshake, and ErrUnsent otherwise. A server verifies
// the client certificate after the client has completed the handshake.
func (c *Conn) unsent() error {
	var rejected *TLSError
	if errors.As(streamFault(context.Cause(c.Conn.Context())), &rejected) {
		return rejected
	}
	return ErrUnsent
}

// A Body is the body of a response. It implements message.Body.
type Body struct {
	stream *quic.Stream
	frames *frameReader
	left   uint64 // unread bytes of the current frame
	length int64  // from Content-Length, or -1
	read   int64  // bytes of the body so far
	noBody bool   // the response has no body, as after HEAD
	head   int    // bytes of the header sections so far
	stop   func() bool
	done   func(complete bool)
	once   sync.Once

	ended   error // result of all later calls of Read
	trailer []Field
}

// roundTrip sends a request and reads the head of its response.
func (b *Body) roundTrip(fields []Field, until time.Time, sent func()) (*Response, error) {
	b.stream.SetDeadline(until)
	if _, err := b.stream.Write(appendFrame(nil, frameHeaders, encode(fields))); err != nil && !stoppedReading(err) {
		return nil, streamFault(err)
	}
	b.stream.Close() // fails if the server has stopped reading; reading the response reports other errors
	sent()
	for range maxInterim {
		section, err := b.headers()
		if err != nil {
			return nil, err
		}
		resp, err := newResponse(section)
		if err != nil {
			return nil, err
		}
		if resp.Status >= 200 {
			b.stream.SetReadDeadline(time.Time{})
			b.noBody = b.noBody || resp.Status == 204 || resp.Status == 304
			b.length, resp.Body = resp.Length, b
			return resp, nil
		}
	}
	return nil, &Error{Code: excessiveLoad, Text: "too many interim responses"}
}

// stoppedReading reports whether a server has responded and does not read the
// rest of the request (RFC 9114 section 4.1).
func stoppedReading(err error) bool {
	e, ok := errors.AsType[*quic.StreamError](err)
	return ok && e.Remote && e.ErrorCode == noError
}

// headers reads frames until a header section.
func (b *Body) headers() ([]Field, error) {
	for {
		kind, length, err := b.frames.next()
		switch {
		case err == io.EOF:
			return nil, &Error{Code: messageError, Truncated: true, Text: "stream ended before the response"}
		case err != nil:
			return nil, streamFault(err)
		case kind == frameHeaders:
			return b.section(length)
		case isForbidden(kind) || kind == frameData:
			return nil, &Error{Code: frameUnexpected, Text: "unexpected frame before the response"}
		}
		if err := b.frames.skip(length); err != nil {
			return nil, streamFault(err)
		}
	}
}

// isForbidden reports whether a frame must not be on the stream of a request.
func isForbidden(kind uint64) bool {
	switch kind {
	case frameCancelPush, frameSettings, framePushPromise, frameGoAway, frameMaxPushID:
		return true
	}
	return isReserved(kind)
}

// section reads and decodes a header section.
func (b *Body) section(length uint64) (fields []Field, err error) {
	p, err := b.frames.payload(length, maxHead)
	if err != nil {
		return nil, streamFault(err)
	}
	for next := qpack.NewDecoder().Decode(p); ; {
		f, err := next()
		if err == io.EOF {
			return fields, nil
		}
		if err != nil {
			return nil, &Error{Code: messageError, Text: "malformed header section"}
		}
		if b.head += len(f.Name) + len(f.Value) + 32; b.head > maxHead || len(fields) == maxFields {
			return nil, &Error{Code: excessiveLoad, TooLarge: true, Text: "response head is too large"}
		}
		fields = append(fields, Field{Name: f.Name, Value: f.Value})
	}
}

// encode encodes a header section without the dynamic table.
func encode(fields []Field) []byte {
	var b bytes.Buffer
	e := qpack.NewEncoder(&b)
	for _, f := range fields {
		e.WriteField(qpack.HeaderField{Name: f.Name, Value: f.Value}) // a bytes.Buffer has no errors
	}
	return b.Bytes()
}

// Read reads the body.
func (b *Body) Read(p []byte) (int, error) {
	if b.ended != nil {
		return 0, b.ended
	}
	n, err := b.next(p)
	b.read += int64(n)
	if over := b.length >= 0 && b.read > b.length; err == nil && over || b.noBody && n > 0 {
		n, err = 0, &Error{Code: messageError, Text: "body is longer than its length"}
	}
	if err == io.EOF && b.length > b.read && !b.noBody {
		err = &Error{Code: messageError, Truncated: true, Text: "body is shorter than its length"}
	}
	if err != nil {
		b.ended = err
		b.abort(err)
	}
	return n, err
}

// next reads bytes of the current frame, or of the next one with data.
func (b *Body) next(p []byte) (int, error) {
	for b.left == 0 {
		kind, length, err := b.frames.next()
		switch {
		case err == io.EOF:
			return 0, io.EOF
		case err != nil:
			return 0, streamFault(err)
		case kind == frameData && b.trailer == nil:
			b.left = length
		case kind == frameHeaders && b.trailer == nil:
			if err := b.readTrailer(length); err != nil {
				return 0, err
			}
		case kind == frameData || kind == frameHeaders || isForbidden(kind):
			return 0, &Error{Code: frameUnexpected, Text: "unexpected frame in the body"}
		default:
			if err := b.frames.skip(length); err != nil {
				return 0, streamFault(err)
			}
		}
	}
	if uint64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.frames.r.Read(p)
	if b.left -= uint64(n); err == io.EOF && b.left == 0 {
		err = nil // the next call returns it
	}
	return n, streamFault(truncated(err))
}

func (b *Body) readTrailer(length uint64) error {
	fields, err := b.section(length)
	if err != nil {
		return err
	}
	for _, f := range fields {
		if !validField(f) || f.Name[0] == ':' {
			return &Error{Code: messageError, Text: "invalid trailer"}
		}
	}
	b.trailer = append([]Field{}, fields...) // not nil
	return nil
}

// Trailer returns the fields after the body. It is called after Read has
// returned io.EOF.
func (b *Body) Trailer() []Field { return b.trailer }

// Close cancels the request if its body was not read completely. Close may be
// called during a Read.
func (b *Body) Close() error {
	b.release(requestCancelled, false)
	return nil
}

// abort ends the use of the stream after err.
func (b *Body) abort(err error) {
	code := uint64(requestCancelled)
	var e *Error
	if errors.As(err, &e) {
		code = e.Code
	}
	b.release(code, err == io.EOF)
}

// release cancels both directions of the stream, which has no effect on a
// direction that has ended. The argument complete reports whether the response was
// read completely.
func (b *Body) release(code uint64, complete bool) {
	b.once.Do(func() {
		b.stop()
		cancelStream(b.stream, code)
		b.done(complete)
	})
}

func cancelStream(s *quic.Stream, code uint64) {
	s.CancelRead(quic.StreamErrorCode(code))
	s.CancelWrite(quic.StreamErrorCode(code))
}

// newResponse checks a header section (RFC 9114 section 4.3).
func newResponse(fields []Field) (*Response, error) {
	malformed := &Error{Code: messageError, Text: "malformed response head"}
	if len(fields) == 0 || fields[0].Name != ":status" || len(fields[0].Value) != 3 {
		return nil, malformed
	}
	status, err := strconv.ParseUint(fields[0].Value, 10, 16)
	if err != nil || status < 100 || status == 101 {
		return nil, malformed
	}
	r := &Response{Status: int(status), Header: fields[1:], Length: -1}
	for _, f := range r.Header {
		if !validField(f) || f.Name[0] == ':' {
			return nil, malformed
		}
		if f.Name != "content-length" {
			continue
		}
		n, err := strconv.ParseUint(f.Value, 10, 62)
		if err != nil || r.Length >= 0 && r.Length != int64(n) {
			return nil, &Error{Code: messageError, Text: "invalid Content-Length"}
		}
		r.Length = int64(n)
	}
	return r, nil
}

// validField reports whether a field is valid in HTTP/3: a name in lower case
// that does not describe the connection, and a value without line ends.
func validField(f Field) bool {
	switch f.Name {
	case "", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
		return false
	}
	for i := range len(f.Name) {
		if c := f.Name[i]; c <= ' ' || c >= 0x7f || 'A' <= c && c <= 'Z' || c == ':' && i > 0 {
			return false
		}
	}
	return !strings.ContainsAny(f.Value, "\r\n\x00")
}
