package http

import "context"

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
