package http

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A dialer makes the connections of one Transport.
type dialer struct {
	pool    *pool
	old     bool // offer HTTP/1.1 alone
	connect func(ctx context.Context, addr string) (net.Conn, error)
}

func (d *dialer) plain(ctx context.Context, _, addr string) (net.Conn, error) {
	raw, err := d.connect(ctx, addr)
	if err != nil {
		return nil, err
	}
	return &wire{Conn: raw}, nil
}

// tls gives net/http the TLS connection itself for HTTP/2, which it knows by
// that type, and a wire above it for HTTP/1.
func (d *dialer) tls(ctx context.Context, _, addr string) (net.Conn, error) {
	conn, below, err := d.shake(ctx, addr)
	if err != nil {
		return nil, err
	}
	secure := conn.(*tls.Conn)
	if secure.ConnectionState().NegotiatedProtocol == "h2" {
		return secure, nil
	}
	return &wire{Conn: secure, below: below}, nil
}

// shake returns a connection under TLS and the one below that.
func (d *dialer) shake(ctx context.Context, addr string) (net.Conn, *ending, error) {
	raw, err := d.connect(ctx, addr)
	if err != nil {
		return nil, nil, err
	}
	below := &ending{Conn: raw, pool: d.pool}
	conn := tls.Client(below, d.config(addr))
	within, cancel := context.WithTimeout(ctx, shakeTime)
	defer cancel()
	if err := conn.HandshakeContext(within); err != nil {
		raw.Close()
		return nil, nil, shakeFault(err)
	}
	d.pool.add(below)
	return conn, below, nil
}

func (d *dialer) config(addr string) *tls.Config {
	config := &tls.Config{}
	if d.pool.env.TLS != nil {
		config = d.pool.env.TLS.Clone()
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
