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
	"github.com/anyurl/fetch/internal/sessions"
)

// A conn is a connection of HTTP/1, above TLS. Exchanges take place on it one
// after the other.
type conn struct {
	net.Conn
	raw        *eofConn // the connection below TLS, or nil
	state      *tls.ConnectionState
	r          *bufio.Reader
	out        []byte    // the head of a request, and
	head       []byte    // of a response: memory that is used again
	created    time.Time // when it was made
	used       bool      // for an exchange
	reusable   bool      // the exchange ended so that another may follow
	stale      bool      // the exchange failed before an answer
	timerStart time.Time // when firstByte began to count; zero: it does not
}

func newConn(c net.Conn, raw *eofConn) *conn {
	out := &conn{Conn: c, raw: raw, r: bufio.NewReaderSize(c, readBuffer), created: time.Now()}
	if secure, ok := c.(*tls.Conn); ok {
		state := secure.ConnectionState()
		out.state = &state
	}
	return out
}

// Limits of an exchange. Those on time begin where the door's end.
const (
	maxField   = 100 << 10 // one, as in curl
	firstByte  = 30 * time.Second
	maxIdle    = 16 // connections that wait for one set of requests
	maxAllIdle = 64 // and for all
	readBuffer = 32 << 10
)

// rearm is how much older than a request its deadline may be.
const timerTolerance = time.Second

// NetConn returns the connection below, as tls.Conn does.
func (c *conn) NetConn() net.Conn { return c.Conn }

// fresh is how long a connection that was not used yet may wait unseen. The
// session tickets of TLS 1.3 arrive behind the handshake.
const unusedGrace = time.Second

// lateAnswer is how long an answer is waited for that was given before the
// request was taken: to a connection that the server had enough of, say.
const earlyResponseWait = 50 * time.Millisecond

// Claim reports whether nothing arrived on an idle connection. Bytes that no
// request asked for must not become the answer to the next one.
func (c *conn) Claim(*fetch.Trace) bool {
	if !c.used && time.Since(c.created) < unusedGrace {
		return true
	}
	return c.r.Buffered() == 0 && fetch.Quiet(c.Conn)
}

// Release reports whether the last exchange left c in a known state.
func (c *conn) Release() bool {
	keep := c.reusable
	c.used, c.reusable = true, false
	return keep
}

// Stale reports whether the last exchange failed before the first byte of an
// answer.
func (c *conn) Stale() bool { return c.stale }

// Abort closes c.
func (c *conn) Abort() { c.Close() }

// lease is the use of a connection by one exchange.
type lease = sessions.Lease[*conn]

// sendOld sends a by HTTP/1.
func (d *driver) sendHTTP1(ctx context.Context, netKey string, req *fetch.Request, wr *wireRequest, via *proxyRoute) (x *exchange, err error) {
	key := connKey(netKey, wr.target.Scheme, wr.address)
	if via != nil {
		key = proxyKey(netKey, via, wr.origin)
	}
	open := func() (*conn, error) { return d.connect(ctx, wr, via) }
	err = d.idle.Do(ctx, key, req.Trace, open, func(l *lease) (err error) {
		c := l.Session
		if c.state != nil && !c.used { // new, or from an attempt to speak HTTP/2
			req.Trace.Reached(fetch.Secured, c)
		}
		r := &reader{Legacy: d.opts.Legacy, noBody: wr.method == "HEAD", trace: req.Trace, ctx: ctx, conn: c, lease: l}
		if x, err = r.exchange(wr, via); err != nil { // else the lease may have ended
			c.stale = r.failedBeforeResponse(err)
		}
		return err
	})
	if err != nil {
		return nil, requestFault(ctx, err)
	}
	return x, nil
}

// connKey returns the pool key of connections to an origin.
func connKey(netKey, scheme, addr string) string { return netKey + " " + scheme + " " + addr }

// proxyKey returns the pool key of connections to a proxy or gateway. Each
// origin has its own, so that late bytes that follow the answer of one origin
// cannot become the answer of another.
func proxyKey(netKey string, via *proxyRoute, o fetch.Origin) string {
	return strings.Join([]string{netKey, "by", via.host, via.key, "for", o.Scheme, o.Host, strconv.Itoa(int(o.Port))}, " ")
}

// connect returns a new connection to the server of a, or to a proxy.
func (d *driver) connect(ctx context.Context, wr *wireRequest, via *proxyRoute) (*conn, error) {
	dial := dialer{env: d.env, http1Only: true}
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

// exchange sends a and reads as far as the body. After an error the conn is
// of no use.
func (r *reader) exchange(wr *wireRequest, via *proxyRoute) (*exchange, error) {
	c := r.conn
	c.out = wr.appendHead(c.out[:0], via, r.Legacy)
	if r.trace != nil {
		r.got = r.trace.Got
		if r.trace.Sent != nil {
			r.trace.Sent(wr.redact(c.out))
		}
	}
	_, failed := c.Write(c.out)
	switch now := time.Now(); {
	case failed != nil:
		c.timerStart = time.Time{}
		c.SetReadDeadline(now.Add(earlyResponseWait))
	case now.Sub(c.timerStart) >= timerTolerance:
		c.timerStart = now
		c.SetReadDeadline(now.Add(firstByte))
	}
	r.trace.Reached(fetch.Asked, c)
	if err := r.response(); err != nil {
		if failed != nil && len(r.head) == 0 {
			err = failed
		}
		return nil, err
	}
	if r.length < 0 || r.length > int64(c.r.Buffered()) { // else nothing need be read
		c.timerStart = time.Time{}
		c.SetReadDeadline(c.timerStart)
	}
	r.trace.Reached(fetch.Answered, c)
	r.keepAlive = r.keepAlive && !hasField(wr.header, "Connection")
	r.result = exchange{
		trace: r.trace, via: via, conn: c, tls: c.state,
		proto: r.status.Proto, code: r.status.Code, head: r.head, header: r.header, length: r.length, lengthOverflow: r.lengthOverflow, body: r,
		trailer: func() fetch.Header { return r.trailer },
	}
	if r.body == emptyBody {
		r.finish(true)
	}
	return &r.result, nil
}

// unanswered reports whether err came before the first byte of an answer.
func (r *reader) failedBeforeResponse(err error) bool {
	return len(r.head) == 0 && r.conn.r.Buffered() == 0 && fetch.FaultOf(err) != fetch.Timeout
}

// finish ends the exchange. The connection stays for the next one if the
// response was complete and nothing followed it.
func (r *reader) finish(complete bool) {
	if complete && !r.lease.Ended() {
		c := r.conn
		c.reusable = r.keepAlive && !r.deviated && r.Legacy == (Legacy{})
		if r.bounded && c.r.Buffered() > 0 {
			r.trace.Notef("server sent more than the response: the rest was cut, the connection dropped")
			c.reusable = false
		}
	}
	r.lease.End(complete)
}
