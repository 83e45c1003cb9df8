package http

import (
	"bytes"
	"io"
	"net"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// A wire is an HTTP/1 connection above TLS. It gives each exchange the bytes
// that are its own: the raw head, what a Trace hears, and not one byte that
// came before it was asked for or after it had ended. What old servers frame
// oddly it mends for net/http.
type wire struct {
	net.Conn
	below *ending // the connection below TLS, or nil

	mu      sync.Mutex
	owner   *exchange // nil: idle
	frame   frame
	surplus bool   // the server said more than it was asked: nothing here can be believed
	spent   bool   // the response had to be mended, and was the last
	pending []byte // mended, and not yet given to net/http
}

var errUnsolicited = fetch.Protocol.Errorf("server spoke without being asked")

// NetConn returns the connection below, as tls.Conn does.
func (w *wire) NetConn() net.Conn { return w.Conn }

func (w *wire) Read(p []byte) (int, error) {
	for {
		if n := w.drain(p); n > 0 {
			return n, nil
		}
		if w.spoilt() {
			return 0, io.EOF
		}
		n, err := w.Conn.Read(p)
		if n, err = w.read(p[:n], err); n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// drain gives what is pending.
func (w *wire) drain(p []byte) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := copy(p, w.pending)
	w.pending = w.pending[n:]
	return n
}

// read judges what came. Without bytes and error there is nothing to give yet.
func (w *wire) read(p []byte, err error) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(p) > 0 {
		return w.take(p, err)
	}
	f := &w.frame
	if err == io.EOF && w.owner != nil && f.state == inHead && bytes.HasPrefix(f.head, []byte("HTTP/")) {
		w.owner.cut = true
	}
	if err == io.EOF && f.state == unbounded && w.below != nil && w.below.seen() {
		// RFC 9112 9.8: without a close_notify, anybody may have cut it.
		err = fetch.Truncated.Errorf("TLS connection ended without close_notify: %w", io.ErrUnexpectedEOF)
	}
	if f.state == inHead && len(f.head) > 0 { // what was held back, before the error
		f.state, w.pending = unbounded, f.head
		return 0, nil
	}
	return 0, err
}

// take gives the exchange what is its own of p.
func (w *wire) take(p []byte, err error) (int, error) {
	if w.owner == nil {
		w.surplus = true
		return 0, errUnsolicited
	}
	noted := w.frame.odd != ""
	n := w.frame.scan(p)
	if t := w.owner.trace; n > 0 && t != nil && t.Got != nil {
		t.Got(p[:n])
	}
	if odd := w.frame.odd; odd != "" {
		if !noted {
			w.owner.trace.Notef("deviation: %s", odd)
		}
		w.spent = w.frame.state == ended
	}
	if n < len(p) {
		w.surplus, err = true, nil
		if n == 0 {
			return 0, io.EOF
		}
	}
	if w.frame.state == inHead {
		return 0, nil
	}
	given := w.frame.given(p[:n])
	k := copy(p, given)
	if w.pending = bytes.Clone(given[k:]); len(w.pending) > 0 {
		err = nil
	}
	return k, err
}

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	if w.surplus || w.spent {
		w.mu.Unlock()
		return 0, net.ErrClosed // nothing written: net/http takes another connection
	}
	if w.owner != nil {
		if t := w.owner.trace; t != nil && t.Sent != nil {
			t.Sent(p)
		}
	}
	w.mu.Unlock()
	return w.Conn.Write(p)
}

// bind makes x the exchange that the next bytes belong to.
func (w *wire) bind(x *exchange) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.owner != nil { // of a response without body: net/http had the connection back at once
		w.owner.head, w.owner.trailer = w.frame.head, w.frame.trailer
	}
	w.owner = x
	w.frame = frame{noBody: x.noBody, size: w.frame.size[:0], bare: w.frame.bare[:0]}
	// The read that waits here since the last exchange must not count its
	// idleness against this one.
	w.Conn.SetReadDeadline(time.Time{})
}

// release ends x. Its trace hears nothing after it returns.
func (w *wire) release(x *exchange) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.owner == x {
		x.head, x.trailer = w.frame.head, w.frame.trailer
		w.owner, w.frame.head, w.frame.trailer = nil, nil, nil
	}
}

// head returns the raw head that came for x.
func (w *wire) head(x *exchange) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.owner == x {
		return w.frame.head
	}
	return x.head
}

// trailer returns the raw fields that came behind the body of x.
func (w *wire) trailer(x *exchange) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.owner == x {
		return w.frame.trailer
	}
	return x.trailer
}

func (w *wire) spoilt() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.surplus
}

// ending is a connection that remembers that its peer ended it.
type ending struct {
	net.Conn
	pool *pool
	mu   sync.Mutex
	eof  bool
}

// Close takes the connection out of the pool's sight too.
func (e *ending) Close() error {
	e.pool.remove(e)
	return e.Conn.Close()
}

// NetConn returns the connection below.
func (e *ending) NetConn() net.Conn { return e.Conn }

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.Conn.Read(p)
	if err != nil {
		e.mu.Lock()
		e.eof = true
		e.mu.Unlock()
	}
	return n, err
}

func (e *ending) seen() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.eof
}
