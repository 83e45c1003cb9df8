package http

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// A conn is a connection of HTTP/1, above TLS. Exchanges take place on it one
// after the other.
type conn struct {
	net.Conn
	below *ending // the connection below TLS, or nil
	state *tls.ConnectionState
	key   string // who may use it
	r     *bufio.Reader
	abort func()    // closes it
	out   []byte    // the head of a request, and
	head  []byte    // of a response: memory that is used again
	since time.Time // when it was made
	used  bool      // for an exchange
	armed time.Time // when firstByte began to count; zero: it does not
}

func newConn(c net.Conn, below *ending, key string) *conn {
	out := &conn{Conn: c, below: below, key: key, r: bufio.NewReaderSize(c, readBuffer), since: time.Now()}
	out.abort = func() { out.Close() }
	if secure, ok := c.(*tls.Conn); ok {
		state := secure.ConnectionState()
		out.state = &state
	}
	return out
}

// Limits of an exchange. Those on time begin where the door's end.
const (
	maxHead    = 256 << 10
	maxField   = 100 << 10 // one, as in curl
	maxFields  = 500
	maxInterim = 5
	shakeTime  = 10 * time.Second
	firstByte  = 30 * time.Second
	idleTime   = 45 * time.Second // less than the door lets a read wait
	maxIdle    = 16               // connections that wait for one set of requests
	maxAllIdle = 64               // and for all
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

// quiet reports whether nothing arrived on an idle connection. Bytes that no
// request asked for must not become the answer to the next one.
func (c *conn) quiet() bool {
	if !c.used && time.Since(c.since) < fresh {
		return true
	}
	return c.r.Buffered() == 0 && fetch.Quiet(c.Conn)
}

// sendOld asks by HTTP/1. A connection that was used before may have died
// meanwhile: where no byte of an answer came, another is asked.
func (d *driver) sendOld(ctx context.Context, leave string, req *fetch.Request, a *ask, via *proxyTo) (*exchange, error) {
	key := connKey(leave, a.target.Scheme, a.address, via)
	for {
		c, warm, err := d.take(ctx, key, req, a, via)
		if err != nil {
			return nil, requestFault(ctx, err)
		}
		if ctx.Err() != nil { // while it was dialled: nothing more is said
			c.Close()
			return nil, requestFault(ctx, ctx.Err())
		}
		r := &reader{Old: d.opts.Old, noBody: a.method == "HEAD", trace: req.Trace, ctx: ctx, conn: c, idle: &d.idle}
		x, err := r.exchange(a, via)
		if err == nil {
			return x, nil
		}
		c.Close()
		if !warm || !r.unanswered(err) || ctx.Err() != nil {
			return nil, requestFault(ctx, err)
		}
		again(req.Trace)
	}
}

// connKey names those who may share a connection.
func connKey(leave, scheme, addr string, via *proxyTo) string {
	key := leave + " " + scheme + " " + addr
	if via != nil {
		key = leave + " by " + via.host + " " + via.key
	}
	return key
}

// take returns an idle connection, or a new one.
func (d *driver) take(ctx context.Context, key string, req *fetch.Request, a *ask, via *proxyTo) (c *conn, warm bool, err error) {
	for d.opts.Old == (Old{}) {
		c, ok := d.idle.Get(key)
		if !ok {
			break
		}
		if c.quiet() {
			return c, true, nil
		}
		c.Close()
	}
	dial := dialer{env: d.env, old: true}
	var raw net.Conn
	var below *ending
	switch {
	case via != nil:
		raw, below, err = via.connect(ctx, a.address)
	case a.target.Scheme == "http":
		raw, err = dial.plain(ctx, a.address)
	default:
		raw, below, err = dial.shake(ctx, a.address)
	}
	if err != nil {
		return nil, false, err
	}
	c = newConn(raw, below, key)
	if c.state != nil {
		req.Trace.Reached(fetch.Secured, c)
	}
	return c, false, nil
}

// exchange sends a and reads as far as the body. After an error the conn is
// of no use.
func (r *reader) exchange(a *ask, via *proxyTo) (*exchange, error) {
	c := r.conn
	r.stop = context.AfterFunc(r.ctx, c.abort)
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
		r.stop()
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
		proto: r.proto, code: r.code, head: r.head, header: r.header, length: r.length, endless: r.endless, body: r,
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

// finish ends the exchange: the conn waits for the next where the response
// was whole and nothing came behind it.
func (r *reader) finish(whole bool) {
	r.ending.Do(func() {
		c := r.conn
		alive := r.stop()
		if whole && r.bounded && c.r.Buffered() > 0 {
			r.trace.Notef("server sent more than the response: the rest was cut, the connection dropped")
			whole = false
		}
		if !alive || !whole || !r.keep || r.spent || r.Old != (Old{}) {
			c.Close()
			return
		}
		c.used = true
		r.idle.Put(c.key, c)
	})
}
