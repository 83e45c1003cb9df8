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
// came before it was asked for or after it had ended.
type wire struct {
	net.Conn
	below *ending // the connection below TLS, or nil

	mu      sync.Mutex
	owner   *exchange // nil: idle
	frame   frame
	surplus bool // the server said more than it was asked: nothing here can be believed
}

var errUnsolicited = fetch.Protocol.Errorf("server spoke without being asked")

// NetConn returns the connection below, as tls.Conn does.
func (w *wire) NetConn() net.Conn { return w.Conn }

func (w *wire) Read(p []byte) (int, error) {
	if w.spoilt() {
		return 0, io.EOF
	}
	n, err := w.Conn.Read(p)
	w.mu.Lock()
	defer w.mu.Unlock()
	if n > 0 {
		return w.take(p[:n], err)
	}
	if err == io.EOF && w.owner != nil && w.frame.state == inHead && bytes.HasPrefix(w.frame.head, []byte("HTTP/")) {
		w.owner.cut = true
	}
	if err == io.EOF && w.frame.state == unbounded && w.below != nil && w.below.seen() {
		// RFC 9112 9.8: without a close_notify, anybody may have cut it.
		err = fetch.Truncated.Errorf("TLS connection ended without close_notify: %w", io.ErrUnexpectedEOF)
	}
	return n, err
}

// take gives the exchange what is its own of p.
func (w *wire) take(p []byte, err error) (int, error) {
	if w.owner == nil {
		w.surplus = true
		return 0, errUnsolicited
	}
	n := w.frame.scan(p)
	if t := w.owner.trace; n > 0 && t != nil && t.Got != nil {
		t.Got(p[:n])
	}
	if n == len(p) {
		return n, err
	}
	w.surplus = true
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	if w.surplus {
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
		w.owner.head = w.frame.head
	}
	w.owner = x
	w.frame = frame{noBody: x.noBody, size: w.frame.size[:0]}
	// The read that waits here since the last exchange must not count its
	// idleness against this one.
	w.Conn.SetReadDeadline(time.Time{})
}

// release ends x. Its trace hears nothing after it returns.
func (w *wire) release(x *exchange) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.owner == x {
		x.head = w.frame.head
		w.owner, w.frame.head = nil, nil
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
