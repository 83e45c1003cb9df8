package http

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync"

	"github.com/anyurl/fetch/fetch"
)

// A dialer makes connections.
type dialer struct {
	env fetch.Env
	old bool // offer HTTP/1.1 alone
}

func (d *dialer) plain(ctx context.Context, addr string) (net.Conn, error) {
	return d.env.Net.DialContext(ctx, "tcp", addr)
}

// shake returns a connection under TLS and the one below that.
func (d *dialer) shake(ctx context.Context, addr string) (*tls.Conn, *ending, error) {
	raw, err := d.plain(ctx, addr)
	if err != nil {
		return nil, nil, err
	}
	below := &ending{Conn: raw}
	conn := tls.Client(below, d.config(addr))
	within, cancel := context.WithTimeout(ctx, shakeTime)
	defer cancel()
	if err := conn.HandshakeContext(within); err != nil {
		raw.Close()
		return nil, nil, shakeFault(err)
	}
	return conn, below, nil
}

func (d *dialer) config(addr string) *tls.Config {
	config := &tls.Config{}
	if d.env.TLS != nil {
		config = d.env.TLS.Clone()
	}
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			host = addr
		}
		host, _, _ = strings.Cut(host, "%")
		config.ServerName = strings.TrimSuffix(host, ".")
	}
	config.NextProtos = []string{"h2", "http/1.1"}
	if d.old {
		config.NextProtos = []string{"http/1.1"}
	}
	return config
}

// shakeFault is TLS unless the network or time cut the handshake, which may
// go better another time.
func shakeFault(err error) error {
	var op *net.OpError
	var slow net.Error
	said := errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error") // an alert
	switch {
	case said:
	case errors.Is(err, context.Canceled), errors.As(err, &slow) && slow.Timeout():
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), fetch.FaultOf(err) == fetch.Connect:
		return fetch.Connect.With(err)
	}
	return fetch.TLS.With(err)
}

// ending is a connection that remembers that its peer ended it.
type ending struct {
	net.Conn
	mu    sync.Mutex
	eof   bool
	close func() // may be nil
}

// onClose has f called when the connection is closed by us.
func (e *ending) onClose(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.close = f
}

func (e *ending) Close() error {
	e.mu.Lock()
	f := e.close
	e.mu.Unlock()
	if f != nil {
		f()
	}
	return e.Conn.Close()
}

// NetConn returns the connection below.
func (e *ending) NetConn() net.Conn { return e.Conn }

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.Conn.Read(p)
	if err == io.EOF {
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
