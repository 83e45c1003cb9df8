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
	"github.com/anyurl/fetch/internal/http1"
)

// A reader reads one response of HTTP/1 by the rules of package http1, and is
// its body. It consumes no byte beyond the response.
//
// Deviations with a single interpretation are always accepted. After one the
// connection is closed, so that bytes hidden by an odd framing never become the
// beginning of another response. A deviation with several interpretations is an
// error unless Old.Tolerant is set.
type reader struct {
	Old
	noBody bool
	trace  *fetch.Trace
	ctx    context.Context
	conn   *conn
	lease  *lease
	got    func([]byte) // hears what is taken; may be nil

	rules   http1.Rules
	head    []byte // all before the body, interim responses included
	status  http1.Status
	header  fetch.Header
	length  int64 // of the body; -1: not known
	endless bool  // its Content-Length is more than any object has
	left    int64 // of a body of known length
	trailer fetch.Header

	made    exchange // of all this
	body    io.Reader
	keep    bool // the server will answer another request
	bounded bool // the end of the body is not that of the connection
	spent   bool // there was a deviation
	closed  atomic.Bool
}

// nothing is a body without a byte.
var nothing io.Reader = http.NoBody

func (r *reader) Read(p []byte) (int, error) {
	if r.closed.Load() {
		return 0, net.ErrClosed
	}
	n, err := r.body.Read(p)
	if err != nil {
		r.finish(err == io.EOF)
		if err != io.EOF {
			err = bodyFault(r.ctx, err)
		}
	}
	return n, err
}

// Close may be called beside Read.
func (r *reader) Close() error {
	r.closed.Store(true)
	r.finish(false)
	return nil
}

// note reports a deviation that was accepted.
func (r *reader) note(deviation string) {
	r.trace.Notef("deviation: %s", deviation)
	r.spent = true
}

// heard reports bytes of the response to the trace.
func (r *reader) heard(p []byte) {
	if r.got != nil && len(p) > 0 {
		r.got(p)
	}
}

// take reads bytes of the response.
func (r *reader) take(p []byte) (int, error) {
	n, err := r.conn.r.Read(p)
	r.heard(p[:n])
	return n, err
}

// buffered returns the bytes that have arrived. It waits for the first one.
// consume takes those that belong to the response.
func (r *reader) buffered() ([]byte, error) {
	if _, err := r.conn.r.Peek(1); err != nil {
		return nil, err
	}
	p, _ := r.conn.r.Peek(r.conn.r.Buffered())
	return p, nil
}

func (r *reader) consume(p []byte) {
	r.heard(p)
	r.conn.r.Discard(len(p))
}

// response reads as far as the body.
func (r *reader) response() error {
	r.rules = http1.Rules{Mode: http1.Regular, IgnoreLength: r.IgnoreLength, Note: r.note}
	if r.Tolerant {
		r.rules.Mode = http1.Tolerant
	}
	lines := http1.Lines{Text: r.conn.head[:0], Rules: &r.rules} // whose memory is used again
	for range http1.MaxInterim + 1 {
		if is, err := r.isHead(); !is {
			return r.withoutHead(err)
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

// isHead reports whether a status line comes next. Tolerant allows four blank
// lines before it.
func (r *reader) isHead() (bool, error) {
	blanks := 0
	for {
		start, err := r.conn.r.Peek(blanks + 1)
		if err != nil {
			return false, err
		}
		if c := start[blanks]; c != '\r' && c != '\n' || !r.Tolerant || blanks == len("\r\n")*4 {
			break
		}
		blanks++
	}
	start, _ := r.conn.r.Peek(blanks + len("HTTP/"))
	return r.rules.IsResponse(string(start[blanks:])), nil
}

// withoutHead accepts a response without a head as a document.
func (r *reader) withoutHead(err error) error {
	switch {
	case err != nil && len(r.head) == 0:
		return err
	case !r.Accept09 || r.noBody:
		return fetch.Protocol.Errorf("reply without a head")
	}
	r.trace.Notef("deviation: reply without a head, taken for HTTP/0.9")
	r.body = io.MultiReader(strings.NewReader(string(r.head)), toEnd{r})
	r.head, r.status, r.length = nil, http1.Status{Proto: "HTTP/0.9", Code: http.StatusOK}, -1
	return nil
}

// readHead reads a head and parses it. Its folded fields become single lines.
func (r *reader) readHead(lines *http1.Lines) error {
	for done := false; !done; {
		p, err := r.buffered()
		if err == io.EOF {
			return fetch.Truncated.Errorf("connection ended in the head of the response")
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
	start, text := http1.SplitHead(lines.Head())
	fields, folded := http1.Unfold(text)
	if folded {
		r.trace.Notef("header field folded over lines")
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
