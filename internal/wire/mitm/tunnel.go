package mitm

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// A tunnel is the connection of a client after a CONNECT request.
type tunnel struct {
	net.Conn
	r             *bufio.Reader // contains bytes that the client sent after the request
	authority     string        // host and port of the CONNECT request
	host          string        // host of authority, without brackets
	authorization string        // value of Proxy-Authorization
	secure        bool          // the client uses TLS
}

// Read reads from the client.
func (t *tunnel) Read(p []byte) (int, error) { return t.r.Read(p) }

type tunnelKey struct{}

// withTunnel adds the tunnel of a connection to the context of its requests.
func withTunnel(ctx context.Context, c net.Conn) context.Context {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	return context.WithValue(ctx, tunnelKey{}, c)
}

// tunnelOf returns the tunnel through which a request arrived, or nil.
func tunnelOf(r *http.Request) *tunnel {
	t, _ := r.Context().Value(tunnelKey{}).(*tunnel)
	return t
}

// openTunnel answers a CONNECT request. It passes the connection to the inner
// server as soon as the client sends the first byte, which distinguishes TLS from
// HTTP.
func (x *running) openTunnel(w http.ResponseWriter, r *http.Request) {
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil || host == "" || port == "" {
		x.refuse(w, r, http.StatusBadRequest, "CONNECT needs a host and a port")
		return
	}
	if x.Tunnel != nil {
		if err := x.Tunnel(r); err != nil {
			x.refuse(w, r, http.StatusForbidden, err.Error())
			return
		}
	}
	x.opening.Add(1)
	defer x.opening.Done()
	c, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		x.refuse(w, r, http.StatusBadRequest, "CONNECT needs HTTP/1.1")
		return
	}
	t := &tunnel{Conn: c, r: buffered.Reader, authority: r.Host, host: host, authorization: r.Header.Get(authorizationField)}
	if !x.awaitFirst(t) {
		c.Close()
		return
	}
	var conn net.Conn = t
	if t.secure {
		conn = tls.Server(t, x.tls)
	}
	if !x.tunnels.add(conn) {
		c.Close()
	}
}

// awaitFirst confirms the tunnel and waits for the first byte of the client. It
// sets t.secure. It returns false if the connection must be closed.
func (x *running) awaitFirst(t *tunnel) bool {
	stop := context.AfterFunc(x.ctx, func() { t.Close() })
	defer stop()
	if t.SetDeadline(time.Now().Add(idleTimeout)) != nil {
		return false
	}
	if _, err := t.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		return false
	}
	first, err := t.r.Peek(1)
	if err != nil || t.SetDeadline(time.Time{}) != nil {
		return false
	}
	const handshake = 22 // type of a TLS record
	t.secure = first[0] == handshake
	return true
}

// A tunnelListener is a net.Listener whose connections are tunnels.
type tunnelListener struct {
	addr  net.Addr
	conns chan net.Conn
	done  chan struct{}
	close func()
}

func newTunnelListener(addr net.Addr) *tunnelListener {
	done := make(chan struct{})
	return &tunnelListener{addr, make(chan net.Conn), done, sync.OnceFunc(func() { close(done) })}
}

// add passes a connection to Accept. It returns false after Close.
func (l *tunnelListener) add(c net.Conn) bool {
	select {
	case l.conns <- c:
		return true
	case <-l.done:
		return false
	}
}

// Accept returns the next tunnel.
func (l *tunnelListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close makes Accept and add fail.
func (l *tunnelListener) Close() error {
	l.close()
	return nil
}

// Addr returns the address of the listener of the proxy.
func (l *tunnelListener) Addr() net.Addr { return l.addr }
