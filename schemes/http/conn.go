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
	below *ending // the connection below TLS, or nil
	state *tls.ConnectionState
	r     *bufio.Reader
	out   []byte    // the head of a request, and
	head  []byte    // of a response: memory that is used again
	since time.Time // when it was made
	used  bool      // for an exchange
	keep  bool      // the exchange ended so that another may follow
	stale bool      // the exchange failed before an answer
	armed time.Time // when firstByte began to count; zero: it does not
}

func newConn(c net.Conn, below *ending) *conn {
	out := &conn{Conn: c, below: below, r: bufio.NewReaderSize(c, readBuffer), since: time.Now()}
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
const rearm = time.Second

// NetConn returns the connection below, as tls.Conn does.
func (c *conn) NetConn() net.Conn { return c.Conn }

// fresh is how long a connection that was not used yet may wait unseen. The
// session tickets of TLS 1.3 arrive behind the handshake.
const fresh = time.Second

// lateAnswer is how long an answer is waited for that was given before the
// request was taken: to a connection that the server had enough of, say.
const lateAnswer = 50 * time.Millisecond

// Claim reports whether nothing arrived on an idle connection. Bytes that no
// request asked for must not become the answer to the next one.
func (c *conn) Claim(*fetch.Trace) bool {
	if !c.used && time.Since(c.since) < fresh {
		return true
	}
	return c.r.Buffered() == 0 && fetch.Quiet(c.Conn)
}

// Release reports whether the last exchange left c in a known state.
func (c *conn) Release() bool {
	keep := c.keep
	c.used, c.keep = true, false
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
func (d *driver) sendOld(ctx context.Context, leave string, req *fetch.Request, a *ask, via *proxyTo) (x *exchange, err error) {
	key := connKey(leave, a.target.Scheme, a.address)
	if via != nil {
		key = proxyKey(leave, via, a.origin)
	}
	open := func() (*conn, error) { return d.connect(ctx, a, via) }
	err = d.idle.Do(ctx, key, req.Trace, open, func(l *lease) (err error) {
		c := l.Session
		if c.state != nil && !c.used { // new, or from an attempt to speak HTTP/2
			req.Trace.Reached(fetch.Secured, c)
		}
		r := &reader{Old: d.opts.Old, noBody: a.method == "HEAD", trace: req.Trace, ctx: ctx, conn: c, lease: l}
		if x, err = r.exchange(a, via); err != nil { // else the lease may have ended
			c.stale = r.unanswered(err)
		}
		return err
	})
	if err != nil {
		return nil, requestFault(ctx, err)
	}
	return x, nil
}

// connKey returns the pool key of connections to an origin.
func connKey(leave, scheme, addr string) string { return leave + " " + scheme + " " + addr }

// proxyKey returns the pool key of connections to a proxy or gateway. Each
// origin has its own, so that late bytes that follow the answer of one origin
// cannot become the answer of another.
func proxyKey(leave string, via *proxyTo, o fetch.Origin) string {
	return strings.Join([]string{leave, "by", via.host, via.key, "for", o.Scheme, o.Host, strconv.Itoa(int(o.Port))}, " ")
}

// connect returns a new connection to the server of a, or to a proxy.
func (d *driver) connect(ctx context.Context, a *ask, via *proxyTo) (*conn, error) {
	dial := dialer{env: d.env, old: true}
	var raw net.Conn
	var below *ending
	var err error
	switch {
	case via != nil:
		raw, below, err = via.connect(ctx, a.address)
	case a.target.Scheme == "http":
		raw, err = dial.plain(ctx, a.address)
	default:
		raw, below, err = dial.secure(ctx, a.address)
	}
	if err != nil {
		return nil, err
	}
	return newConn(raw, below), nil
}

// exchange sends a and reads as far as the body. After an error the conn is
// of no use.
func (r *reader) exchange(a *ask, via *proxyTo) (*exchange, error) {
	c := r.conn
	c.out = a.appendHead(c.out[:0], via, r.Old)
	if r.trace != nil {
		r.got = r.trace.Got
		if r.trace.Sent != nil {
			r.trace.Sent(a.told(c.out))
		}
	}
	_, failed := c.Write(c.out)
	switch now := time.Now(); {
	case failed != nil:
		c.armed = time.Time{}
		c.SetReadDeadline(now.Add(lateAnswer))
	case now.Sub(c.armed) >= rearm:
		c.armed = now
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
		c.armed = time.Time{}
		c.SetReadDeadline(c.armed)
	}
	r.trace.Reached(fetch.Answered, c)
	r.keep = r.keep && !has(a.header, "Connection")
	r.made = exchange{
		trace: r.trace, via: via, conn: c, tls: c.state,
		proto: r.status.Proto, code: r.status.Code, head: r.head, header: r.header, length: r.length, endless: r.endless, body: r,
		trailer: func() fetch.Header { return r.trailer },
	}
	if r.body == nothing {
		r.finish(true)
	}
	return &r.made, nil
}

// unanswered reports whether err came before the first byte of an answer.
func (r *reader) unanswered(err error) bool {
	return len(r.head) == 0 && r.conn.r.Buffered() == 0 && fetch.FaultOf(err) != fetch.Timeout
}

// finish ends the exchange. The connection stays for the next one if the
// response was complete and nothing followed it.
func (r *reader) finish(complete bool) {
	if complete && !r.lease.Over() {
		c := r.conn
		c.keep = r.keep && !r.spent && r.Old == (Old{})
		if r.bounded && c.r.Buffered() > 0 {
			r.trace.Notef("server sent more than the response: the rest was cut, the connection dropped")
			c.keep = false
		}
	}
	r.lease.End(complete)
}
