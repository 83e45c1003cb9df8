package http

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/internal/wire/splice"
)

// A reader reads the response head from an HTTP/1 connection and implements the
// response body. It uses the parsers of package http1 and does not read beyond
// the response.
//
// If a response deviates from RFC 9112, but has only one interpretation, the
// reader accepts it. The connection is then not reused, because unusual framing
// could hide bytes that would be read as the next response. A deviation with
// several interpretations is an error unless Legacy.Tolerant is set.
type reader struct {
	Legacy
	noBody bool
	trace  *trace.Trace
	ctx    context.Context
	conn   *conn
	lease  *lease
	got    func([]byte) // receives the bytes of the response, or nil

	rules          http1.Rules
	head           []byte // all bytes before the body, including interim responses
	status         http1.Status
	header         fetch.Header
	length         int64 // length of the body in bytes, or -1 if unknown
	lengthOverflow bool  // Content-Length exceeds 62 bits
	remaining      int64 // unread bytes of a body of known length
	trailer        fetch.Header

	result    exchange // returned by the method exchange
	body      io.Reader
	keepAlive bool // the server keeps the connection open
	bounded   bool // the end of the body does not depend on the end of the connection
	deviated  bool // the response has a deviation from RFC 9112
	strict    bool // the end of the connection is not accepted as the end of the body
	closed    atomic.Bool
}

// emptyBody is a response body without data.
var emptyBody io.Reader = http.NoBody

func (r *reader) Read(p []byte) (int, error) {
	if r.closed.Load() {
		return 0, net.ErrClosed
	}
	return r.received(r.body.Read(p))
}

// CanReadPipe implements splice.Source.
func (r *reader) CanReadPipe() bool {
	return !r.closed.Load() && r.got == nil && r.conn.r.Buffered() == 0 && splice.CanRead(r.body)
}

// ReadPipe implements splice.Source.
func (r *reader) ReadPipe(p *splice.Pipe, limit int) (int, error) {
	return r.received(splice.Read(r.body, p, limit))
}

// received processes the results of one read of the body and returns the
// results for the caller. If err is io.EOF or another error, it releases the
// connection.
func (r *reader) received(n int, err error) (int, error) {
	if err != nil {
		r.finish(err == io.EOF)
		if err != io.EOF {
			err = bodyFault(r.ctx, err)
		}
	}
	return n, err
}

// Close releases the connection and interrupts a concurrent Read.
func (r *reader) Close() error {
	r.closed.Store(true)
	r.finish(false)
	return nil
}

// note reports a deviation from RFC 9112 to the trace.
func (r *reader) note(deviation string) {
	r.trace.Notef("deviation: %s", deviation)
	r.deviated = true
}

// report passes bytes of the response to the trace.
func (r *reader) report(p []byte) {
	if r.got != nil && len(p) > 0 {
		r.got(p)
	}
}

// receive reads bytes of the response and passes them to the trace.
func (r *reader) receive(p []byte) (int, error) {
	n, err := r.conn.r.Read(p)
	r.report(p[:n])
	return n, err
}

// buffered waits for at least one byte and returns all bytes that have arrived.
// It does not consume the bytes.
func (r *reader) buffered() ([]byte, error) {
	if _, err := r.conn.r.Peek(1); err != nil {
		return nil, err
	}
	p, _ := r.conn.r.Peek(r.conn.r.Buffered())
	return p, nil
}

// consume discards the bytes p from the start of the buffer and passes them to
// the trace.
func (r *reader) consume(p []byte) {
	r.report(p)
	r.conn.r.Discard(len(p))
}

// response reads the response head and prepares the response body.
func (r *reader) response() error {
	r.rules = http1.Rules{Mode: http1.Regular, IgnoreLength: r.IgnoreLength, Note: r.note}
	if r.Tolerant {
		r.rules.Mode = http1.Tolerant
	}
	lines := http1.Lines{Text: r.conn.head[:0], Rules: &r.rules} // reuses the buffer of the last response
	for range http1.MaxInterim + 1 {
		if is, err := r.headFollows(); !is {
			return r.acceptHTTP09(err)
		}
		if err := r.readHead(&lines); err != nil {
			return err
		}
		if c := r.status.Code; c < 100 || c > 199 || c == 101 {
			r.conn.head, r.head = r.head, bytes.Clone(r.head)
			return r.frame()
		}
	}
	return fetch.Protocol.Errorf("more than %d interim responses", http1.MaxInterim)
}

// headFollows reports whether the next bytes are the start of a status line. If
// Legacy.Tolerant is set, it skips up to four blank lines before the status
// line.
func (r *reader) headFollows() (bool, error) {
	blanks := 0
	for {
		start, err := r.conn.r.Peek(blanks + 1)
		if err == io.EOF && blanks > 0 {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if c := start[blanks]; c != '\r' && c != '\n' || !r.Tolerant || blanks == len("\r\n")*4 {
			break
		}
		blanks++
	}
	start, err := r.conn.r.Peek(blanks + len("HTTP/"))
	switch {
	case err == io.EOF && !r.HTTP09 && strings.HasPrefix("HTTP/", string(start[blanks:])):
		return false, fetch.Truncated.Errorf("connection closed within the status line")
	case err != nil && err != io.EOF:
		return false, err
	}
	return r.rules.IsResponse(string(start[blanks:])), nil
}

// acceptHTTP09 accepts a response without a status line as an HTTP/0.9 body. It
// returns an error if Legacy.HTTP09 is not set.
func (r *reader) acceptHTTP09(err error) error {
	switch {
	case err != nil && len(r.head) == 0:
		return err
	case !r.HTTP09 || r.noBody:
		return fetch.Protocol.Errorf("response without a status line")
	}
	r.trace.Notef("deviation: response without a status line, accepted as HTTP/0.9")
	r.body = io.MultiReader(strings.NewReader(string(r.head)), closeDelimited{r})
	r.head, r.status, r.length = nil, http1.Status{Proto: "HTTP/0.9", Code: http.StatusOK}, -1
	return nil
}

// readHead reads and parses a response head. It joins header fields that are
// folded over several lines.
func (r *reader) readHead(lines *http1.Lines) error {
	for done := false; !done; {
		p, err := r.buffered()
		if err == io.EOF {
			return fetch.Truncated.Errorf("connection closed within the response head")
		}
		if err != nil {
			return err
		}
		var n int
		n, done, err = lines.Next(p)
		r.consume(p[:n])
		if r.head = lines.Text; err != nil {
			return err
		}
	}
	head := lines.Head()
	r.trace.ReceivedHead(head)
	start, text := http1.SplitHead(head)
	fields, folded := http1.Unfold(text)
	if folded {
		r.trace.Notef("header field folded over several lines")
		r.head = append(r.head[:len(r.head)-len(text)], fields...)
	}
	lines.Restart(r.head)
	var err error
	if r.status, err = r.rules.ParseStatus(start); err != nil {
		return err
	}
	r.header, err = http1.ParseFields[fetch.Field](&r.rules, fields)
	return err
}
