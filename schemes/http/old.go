package http

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// Old says which deviations from today's HTTP/1.1 are spoken or borne. Where
// any is set, requests go one a connection, over HTTP/1 alone, and replies are
// read by a reader of our own, which notes each deviation in the Trace.
type Old struct {
	Version10    bool // ask by HTTP/1.0
	Accept09     bool // take a reply without a head for the object: HTTP/0.9
	Tolerant     bool // bear heads of old servers that RFC 9112 refuses
	IgnoreLength bool // the body ends with the connection, whatever its length is said to be
	Raw          bool // keep transfer codings
}

// sendOld is send over a connection of its own.
func (d *driver) sendOld(ctx context.Context, req *fetch.Request, a *ask) (*exchange, error) {
	via, err := d.via(ctx)
	if err != nil {
		return nil, err
	}
	conn, below, err := d.connectOld(ctx, a, via)
	if err != nil {
		return nil, requestFault(ctx, err)
	}
	conn = req.Trace.Tap(conn)
	r := &oldReader{
		Old:    d.opts.Old,
		noBody: a.method == http.MethodHead,
		trace:  req.Trace,
		conn:   conn,
		below:  below,
		r:      bufio.NewReaderSize(conn, readBuffer),
		stop:   context.AfterFunc(ctx, func() { conn.Close() }),
	}
	conn.SetReadDeadline(time.Now().Add(firstByte))
	if _, err = io.WriteString(conn, a.lines(via, d.opts.Old)); err == nil {
		err = r.response()
	}
	if err != nil {
		r.Close()
		return nil, requestFault(ctx, err)
	}
	conn.SetReadDeadline(time.Time{})
	r.resp.Request = (&http.Request{Method: a.method}).WithContext(ctx)
	d.pool.enter()
	return &exchange{trace: req.Trace, pool: &d.pool, via: via, conn: conn, resp: r.resp, head: r.head}, nil
}

// connectOld returns the connection and, where it is under TLS, the one below.
func (d *driver) connectOld(ctx context.Context, a *ask, via *proxyTo) (net.Conn, *ending, error) {
	dial := dialer{pool: &d.pool, old: true, connect: d.pool.connect}
	if via != nil {
		dial.connect = via.connect
	}
	if via != nil || a.target.Scheme == "http" {
		conn, err := dial.connect(ctx, a.target.Address())
		return conn, nil, err
	}
	return dial.shake(ctx, a.target.Address())
}

// lines is the head of the request as it goes over the wire.
func (a *ask) lines(via *proxyTo, o Old) string {
	target, version := a.path+a.query, "HTTP/1.1"
	h := sorted(a.header)
	if via != nil {
		target = via.absolute(a)
		h = append(h, via.fields(a)...)
	}
	if o.Version10 {
		version = "HTTP/1.0"
	} else if !has(h, "Connection") {
		h = append(h, fetch.Field{Name: "Connection", Value: "close"})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s\r\nHost: %s\r\n", a.method, target, version, a.host)
	for _, f := range h {
		if f.Value != "" || !strings.EqualFold(f.Name, "User-Agent") {
			fmt.Fprintf(&b, "%s: %s\r\n", f.Name, f.Value)
		}
	}
	return b.String() + "\r\n"
}
