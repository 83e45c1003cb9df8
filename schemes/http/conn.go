package http

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A conn is an HTTP/1 connection, with or without TLS. It serves one request at
// a time.
type conn struct {
	net.Conn
	raw        *eofConn // TCP connection below the TLS connection, or nil
	state      *tls.ConnectionState
	r          *bufio.Reader
	out        []byte    // buffer for request heads
	head       []byte    // buffer for response heads
	created    time.Time // when the connection was opened
	used       bool      // at least one request has used the connection
	reusable   bool      // the connection can carry another request
	stale      bool      // the last request failed before a response arrived
	timerStart time.Time // start of the firstByte timeout, or zero if no read deadline is set
}

func newConn(c net.Conn, raw *eofConn) *conn {
	out := &conn{Conn: c, raw: raw, r: bufio.NewReaderSize(c, readBuffer), created: time.Now()}
	if secure, ok := c.(*tls.Conn); ok {
		state := secure.ConnectionState()
		out.state = &state
	}
	return out
}

// These limits apply to one request and its response. The limits of fetch.Net
// apply while the connection is being opened.
const (
	maxField   = 100 << 10        // maximum length of one header field in bytes, as in curl
	firstByte  = 30 * time.Second // maximum time from the request to the first byte of the response
	maxIdle    = 64               // maximum number of idle connections
	readBuffer = 32 << 10
)

// timerTolerance is the maximum age of a read deadline that the next request uses
// unchanged. Setting a new deadline for every request would be slow.
const timerTolerance = time.Second

// NetConn returns the underlying connection, such as a TLS connection.
func (c *conn) NetConn() net.Conn { return c.Conn }

// unusedGrace is the time after the handshake in which Claim does not check an
// unused connection for unsolicited data. TLS 1.3 session tickets arrive in
// this time.
const unusedGrace = time.Second

// earlyResponseWait is the time to wait for a response after a request could not
// be written completely. Some servers send an error response and then close the
// connection.
const earlyResponseWait = 50 * time.Millisecond

// Claim reports whether the idle connection c can be used for another request.
// It returns false if c has received unsolicited bytes, which could be mistaken
// for the response.
func (c *conn) Claim(*trace.Trace) bool {
	if !c.used && time.Since(c.created) < unusedGrace {
		return true
	}
	return c.r.Buffered() == 0 && fetch.IsQuiet(c.Conn)
}

// Release reports whether c can be reused for another request.
func (c *conn) Release() bool {
	keep := c.reusable
	c.used, c.reusable = true, false
	return keep
}

// Stale reports whether the last request failed before the first byte of its
// response arrived.
func (c *conn) Stale() bool { return c.stale }

// Abort closes the connection.
func (c *conn) Abort() { c.Close() }

// A lease is the exclusive use of a connection by one request.
type lease = sessions.Lease[*conn]

// sendHTTP1 sends a request over an idle or a new HTTP/1 connection.
func (d *driver) sendHTTP1(
	ctx context.Context, netKey string, req *fetch.Request, wr *wireRequest, via *proxyRoute,
) (x *exchange, err error) {
	key := connKey(netKey, wr.target.Scheme, wr.address)
	if via != nil {
		key = proxyKey(netKey, via, wr.origin)
	}
	key += wr.connUser(req.Auth)
	if !wr.isRepeatable() {
		key += " once" // the server may close an idle connection while the request is sent
	}
	open := func() (*conn, error) { return d.connect(ctx, wr, via) }
	err = d.idle.Do(ctx, key, req.Trace, open, func(l *lease) (err error) {
		c := l.Session
		if c.used {
			reportReused(req.Trace, c)
		}
		if c.state != nil && !c.used { // c is new, or was opened for HTTP/2
			req.Trace.Reached(trace.Secured, c)
		}
		r := &reader{
			Legacy: d.opts.Legacy, noBody: wr.method == "HEAD", trace: req.Trace, ctx: ctx, conn: c, lease: l,
			strict: d.opts.Strict && (c.raw == nil || wr.target.Scheme != "https"), // close_notify marks the end
		}
		if x, err = r.exchange(wr, via); err != nil { // without an error, the lease may have ended already
			c.stale = r.failedBeforeResponse(err)
		}
		return err
	})
	if err != nil {
		return nil, requestFault(ctx, err)
	}
	return x, nil
}

// connKey returns the key under which the pool stores connections to an origin.
// It has the same form as the result of [sessions.Key].
func connKey(netKey, scheme, addr string) string { return addr + "\x00" + netKey + "\x00" + scheme }

// proxyKey returns the key under which the pool stores connections to a proxy
// or gateway. Each origin has its own key. Otherwise, surplus bytes after the
// response of one origin could be read as the response of another origin.
func proxyKey(netKey string, via *proxyRoute, o fetch.Origin) string {
	rest := strings.Join([]string{"by", via.key, "for", o.Scheme, o.Host, strconv.Itoa(int(o.Port))}, " ")
	return connKey(netKey, rest, via.host)
}

// connect opens a connection to the server of a request. If via is not nil, it
// connects to the proxy or gateway.
func (d *driver) connect(ctx context.Context, wr *wireRequest, via *proxyRoute) (*conn, error) {
	dial := dialer{env: d.env, http1Only: true, ech: d.opts.ECH}
	var c net.Conn
	var rawConn *eofConn
	var err error
	switch {
	case via != nil:
		c, rawConn, err = via.connect(ctx, wr.address)
	case wr.target.Scheme == "http":
		c, err = dial.dialTCP(ctx, wr.address)
	default:
		c, rawConn, err = dial.dialTLS(ctx, wr.address)
	}
	if err != nil {
		return nil, err
	}
	return newConn(c, rawConn), nil
}

// exchange sends a request and reads the response head. After an error the
// connection cannot be used again.
func (r *reader) exchange(wr *wireRequest, via *proxyRoute) (*exchange, error) {
	c := r.conn
	c.out = wr.appendHead(c.out[:0], via, r.Legacy)
	if r.trace != nil {
		r.got = r.trace.Received
		if r.trace.Sent != nil {
			r.trace.Sent(wr.redact(c.out))
		}
		if r.trace.RequestHead != nil {
			r.trace.RequestHead(string(wr.redact(c.out)))
		}
	}
	_, failed := c.Write(c.out)
	if failed == nil && wr.hasBody() {
		failed = c.writeBody(wr.outgoing)
	}
	switch now := time.Now(); {
	case failed != nil:
		c.timerStart = time.Time{}
		c.SetReadDeadline(now.Add(earlyResponseWait))
	case now.Sub(c.timerStart) >= timerTolerance:
		c.timerStart = now
		c.SetReadDeadline(now.Add(firstByte))
	}
	r.trace.Reached(trace.RequestSent, c)
	if err := r.response(); err != nil {
		if failed != nil && len(r.head) == 0 {
			err = failed
		}
		return nil, err
	}
	r.lease.Answered()
	if r.length < 0 || r.length > int64(c.r.Buffered()) { // the body is not buffered completely
		c.timerStart = time.Time{}
		c.SetReadDeadline(c.timerStart)
	}
	r.trace.Reached(trace.FirstByte, c)
	r.keepAlive = r.keepAlive && !hasField(wr.header, "Connection") && wr.isRepeatable() && failed == nil
	r.result = exchange{
		trace: r.trace, via: via, conn: c, tls: c.state,
		proto: r.status.Proto, code: r.status.Code, head: r.head, header: r.header,
		length: r.length, lengthOverflow: r.lengthOverflow, body: r,
		trailer: func() fetch.Header { return r.trailer },
	}
	if r.body == emptyBody {
		r.finish(true)
	}
	return &r.result, nil
}

// failedBeforeResponse reports whether err occurred before the first byte of a
// response. It returns false for a timeout, because the server may have
// received the request.
func (r *reader) failedBeforeResponse(err error) bool {
	return len(r.head) == 0 && r.conn.r.Buffered() == 0 && fetch.FaultOf(err) != fetch.Timeout
}

// finish releases the connection after a response. The connection can be reused
// if the response is complete and no further bytes have arrived.
func (r *reader) finish(complete bool) {
	if complete && !r.lease.Ended() {
		c := r.conn
		c.reusable = r.keepAlive && !r.deviated && r.Legacy == (Legacy{})
		if r.bounded && c.r.Buffered() > 0 {
			r.trace.Notef("server sent data after the response: data ignored, connection closed")
			c.reusable = false
		}
	}
	r.lease.End(complete)
}
