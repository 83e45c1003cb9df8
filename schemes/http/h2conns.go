package http

import (
	"context"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// An h2Conn describes an open connection: the address of its server, and the
// key of the transport that uses it.
type h2Conn struct {
	key  poolKey
	addr string
}

// track adds an open connection to h.conns, so that closeUnused can close it
// later.
func (h *h2) track(e *eofConn, c h2Conn) {
	h.connsMu.Lock()
	if h.conns == nil {
		h.conns = map[*eofConn]h2Conn{}
	}
	h.conns[e] = c
	h.connsMu.Unlock()
	e.onClose(func() {
		h.connsMu.Lock()
		defer h.connsMu.Unlock()
		delete(h.conns, e)
	})
	if h.clientClosed() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.closeUnused()
	}
}

// connect opens a TLS connection for a later request. It returns nil if the
// request can use an open HTTP/2 connection.
func (h *h2) connect(ctx context.Context, netKey, addr string) (*tcpConn, error) {
	if h.hasConn(ctx, netKey, addr) {
		return nil, nil
	}
	return h.open(ctx, netKey, addr)
}

func (h *h2) hasConn(ctx context.Context, netKey, addr string) bool {
	h.connsMu.Lock()
	defer h.connsMu.Unlock()
	for e, c := range h.conns {
		if c.addr == addr && (c.key.net == netKey || h.env.Net.Permits(ctx, e)) {
			return true
		}
	}
	return false
}

// release ends the use of a connection by connect. If no request has used it,
// release pools an HTTP/1.1 connection, and closes an HTTP/2 connection.
func (h *h2) release(netKey string, c *tcpConn) {
	if c == nil || c.isHTTP2() {
		c.close()
	} else if !c.used.Swap(true) {
		h.poolHTTP1(netKey, c.addr, c.Conn, c.raw)
	}
}

// sharedKey returns the key of the transport for a request with the given key.
// It has another Net.Key if only that transport has a connection to the server,
// and if the request may use this connection.
func (h *h2) sharedKey(ctx context.Context, key poolKey, addr string) poolKey {
	h.connsMu.Lock()
	defer h.connsMu.Unlock()
	shared := key
	for e, c := range h.conns {
		switch {
		case c.addr != addr || c.key.window != key.window:
		case c.key == key:
			return key
		case h.env.Net.Permits(ctx, e):
			shared = c.key
		}
	}
	return shared
}

// Limits of the connections that one request may open. Package net/http opens
// another one, without a limit, if the server sends GOAWAY before it responds. A
// request also needs several if other requests use up the streams of each one.
const (
	maxDials = 100
	dialTime = 2 * time.Minute // from the first to the last one
)

// A dialLimit counts the connections that one request opens.
type dialLimit struct {
	mu    sync.Mutex
	n     int
	first time.Time
}

type dialLimitKey struct{}

// withDialLimit returns a context in which the connections of one request are
// limited.
func withDialLimit(ctx context.Context) context.Context {
	return context.WithValue(ctx, dialLimitKey{}, &dialLimit{})
}

// countDial counts a connection for the request of ctx. It returns an error if
// the request may open no further one.
func countDial(ctx context.Context) error {
	l, _ := ctx.Value(dialLimitKey{}).(*dialLimit)
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n == 0 {
		l.first = time.Now()
	} else if l.n >= maxDials || time.Since(l.first) > dialTime {
		return fetch.Connect.Errorf("the server ended %d connections before it responded", l.n)
	}
	l.n++
	return nil
}
