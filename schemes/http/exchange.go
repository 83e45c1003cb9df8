package http

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"

	"github.com/anyurl/fetch/fetch"
)

// An exchange is one request and its response, by whichever version.
type exchange struct {
	trace *fetch.Trace
	via   *proxyRoute // nil: none
	conn  net.Conn    // the last that was tried
	tls   *tls.ConnectionState

	proto          string // "HTTP/1.1"; "HTTP/0.9" has neither head nor code
	code           int
	head           []byte // of interim responses too; for HTTP/2 what HTTP/1 would have sent
	header         fetch.Header
	length         int64         // of the body; -1: not known
	lengthOverflow bool          // its Content-Length is more than any object has
	body           io.ReadCloser // its end, or Close, is that of the exchange
	trailer        func() fetch.Header
}

// peer returns the address of the server that answered. Behind a proxy or a
// gateway it is zero, because the page may come from any server.
func (x *exchange) peer() netip.Addr {
	if x.via != nil {
		return netip.Addr{}
	}
	return fetch.PeerOf(x.conn)
}

// send returns when the head of the response is there. HTTP/2 is offered
// where nothing stands against it.
func (d *driver) send(ctx context.Context, req *fetch.Request, wr *wireRequest) (*exchange, error) {
	via, err := d.route(ctx)
	if err != nil {
		return nil, err
	}
	netKey := d.env.Net.Key(ctx)
	if wr.target.Scheme == "https" && via == nil && !wr.http1Only && !d.opts.HTTP1 && d.opts.Legacy == (Legacy{}) && !tracesBytes(req.Trace) {
		x, err := d.h2.send(ctx, netKey, req, wr)
		if !errors.Is(err, errHTTP1Only) {
			return x, err
		}
	}
	return d.sendHTTP1(ctx, netKey, req, wr, via)
}

func tracesBytes(t *fetch.Trace) bool { return t != nil && (t.Sent != nil || t.Got != nil) }
