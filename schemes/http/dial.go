package http

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"strconv"
	"sync"

	"github.com/anyurl/fetch/fetch"
)

// A dialer opens connections to servers.
type dialer struct {
	env       fetch.Env
	http1Only bool // offer only HTTP/1.1 in the TLS handshake
	ech       *ECH // nil if it is not used
}

func (d *dialer) dialTCP(ctx context.Context, addr string) (net.Conn, error) {
	return d.env.Net.DialContext(ctx, "tcp", addr)
}

// dialTLS opens a TLS connection. It also returns the underlying TCP
// connection. If the server rejects Encrypted Client Hello, dialTLS may open a
// second connection.
func (d *dialer) dialTLS(ctx context.Context, addr string) (*tls.Conn, *eofConn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		host = addr
	}
	protocols := []string{"h2", "http/1.1"}
	if d.http1Only {
		protocols = protocols[1:]
	}
	var a *echAttempt
	for {
		tcp, err := d.dialTCP(ctx, addr)
		if err != nil {
			return nil, nil, err
		}
		if a == nil {
			n, _ := strconv.ParseUint(port, 10, 16)
			a, err = d.ech.newAttempt(ctx, d.env.TLS, host, uint16(n), addr, isDirect(tcp))
			if err != nil {
				tcp.Close()
				return nil, nil, err
			}
		}
		raw := &eofConn{Conn: tcp}
		conn, err := fetch.Handshake(ctx, raw, a.config, host, nil, protocols...)
		if err == nil || !a.retries(err) {
			return conn, raw, err
		}
	}
}

// isDirect reports whether c goes to an address of the server, and not through a
// proxy or a Unix domain socket.
func isDirect(c net.Conn) bool {
	for own := c; own != nil; {
		if p, ok := own.(interface{ IsProxied() bool }); ok {
			return !p.IsProxied() && fetch.PeerOf(c).IsValid()
		}
		below, ok := own.(interface{ NetConn() net.Conn })
		if !ok {
			return false
		}
		own = below.NetConn()
	}
	return false
}

// An eofConn is a connection that records whether Read has returned io.EOF.
type eofConn struct {
	net.Conn
	mu    sync.Mutex
	eof   bool
	close func() // called by Close, or nil
}

// onClose registers the function f, which Close will call.
func (e *eofConn) onClose(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.close = f
}

func (e *eofConn) Close() error {
	e.mu.Lock()
	f := e.close
	e.mu.Unlock()
	if f != nil {
		f()
	}
	return e.Conn.Close()
}

// NetConn returns the underlying TCP connection.
func (e *eofConn) NetConn() net.Conn { return e.Conn }

func (e *eofConn) Read(p []byte) (int, error) {
	n, err := e.Conn.Read(p)
	if err == io.EOF {
		e.mu.Lock()
		e.eof = true
		e.mu.Unlock()
	}
	return n, err
}

func (e *eofConn) sawEOF() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.eof
}
