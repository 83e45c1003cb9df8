package http

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/proxy"
)

// An exchange is an HTTP request and its response, over HTTP/1, HTTP/2 or
// HTTP/3.
type exchange struct {
	trace *trace.Trace
	via   *proxyRoute // proxy or gateway, or nil
	conn  net.Conn    // connection of the last attempt
	tls   *tls.ConnectionState

	proto          string // for example "HTTP/1.1"; "HTTP/0.9" has no head and no code
	code           int
	head           []byte // includes interim responses; for HTTP/2, the equivalent HTTP/1 head
	header         fetch.Header
	length         int64         // length of the body in bytes, or -1 if unknown
	lengthOverflow bool          // Content-Length exceeds 62 bits
	body           io.ReadCloser // the exchange ends when Read returns io.EOF or Close is called
	trailer        func() fetch.Header
}

// peer returns the address of the server that sent the response. If a proxy or
// gateway resolved its name, the address is unknown, and peer returns the zero
// Addr.
func (x *exchange) peer() netip.Addr {
	if x.via != nil {
		return x.via.server
	}
	return fetch.PeerOf(x.conn)
}

// send sends a request and reads the response head. It offers HTTP/2 to the
// server unless a proxy, a header field, an option or the trace requires
// HTTP/1. With Options.HTTP3, it first tries HTTP/3.
func (d *driver) send(ctx context.Context, req *fetch.Request, wr *wireRequest) (*exchange, error) {
	x, err := d.sendOnce(ctx, req, wr)
	if errors.Is(err, proxy.ErrNoTunnel) { // the proxy now gets the URL in absolute form
		x, err = d.sendOnce(ctx, req, wr)
	}
	return x, err
}

// sendOnce is like send, but returns the error of a proxy that refuses a tunnel.
func (d *driver) sendOnce(ctx context.Context, req *fetch.Request, wr *wireRequest) (*exchange, error) {
	via, err := d.route(ctx)
	if err != nil {
		return nil, err
	}
	ctx = d.opts.ECH.attach(ctx, req.Trace)
	netKey := d.env.Net.Key(ctx)
	http1Only := wr.http1Only || d.opts.HTTP1 || d.opts.Legacy != (Legacy{}) || tracesBytes(req.Trace) ||
		wr.connUser(req.Auth) != "" // other requests share a connection of HTTP/2 and HTTP/3
	if wr.target.Scheme == "https" && via == nil && !http1Only {
		x, tcp, err := d.h3.send(ctx, netKey, req, wr)
		if !errors.Is(err, errNoHTTP3) {
			return x, err
		}
		x, err = d.h2.send(tcp.attach(ctx), netKey, req, wr)
		d.h2.release(netKey, tcp)
		if !errors.Is(err, errHTTP1Only) {
			return x, err
		}
	} else if d.h3.only() && wr.target.Scheme == "https" {
		return nil, fetch.Unsupported.Errorf("HTTP/3 cannot be used through a proxy or gateway, and not for this request")
	}
	return d.sendHTTP1(ctx, netKey, req, wr, via)
}

// tracesBytes reports whether t records the bytes that are sent or received, so
// that HTTP/2 cannot be used.
func tracesBytes(t *trace.Trace) bool {
	return t != nil && !t.Messages && (t.Sent != nil || t.Received != nil)
}
