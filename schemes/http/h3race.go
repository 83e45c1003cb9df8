package http

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch/trace"
)

const (
	deadTime = 5 * time.Minute // in which an address that did not answer is not tried again
	maxDead  = 1024
)

// errFaster is the cause of the end of a canceled attempt.
var errFaster = errors.New("the other connection was established first")

// race opens a QUIC connection to one of addrs. After a head start, or if QUIC
// fails, it also opens a TCP connection. It returns the connection that is
// established first, cancels the other attempt and waits for its end. The error
// is errNoHTTP3 if the request must be sent over TCP, perhaps on tcp. If both
// attempts failed, race returns the error of TCP.
func (h *h3) race(
	ctx context.Context, netKey string, t *trace.Trace, wr *wireRequest, addrs []string,
) (c *h3conn, tcp *tcpConn, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	begun := make(chan struct{})
	first := start(func() (*h3conn, error) {
		return h.dialAny(ctx, t, wr, addrs, sync.OnceFunc(func() { close(begun) }))
	})
	select {
	case <-first.done:
	case <-begun: // a slow DNS server is no evidence against UDP
		select {
		case <-first.done:
		case <-time.After(h.transport.HeadStart()):
		}
	}
	if first.succeeded() {
		return first.conn, nil, nil
	}
	second := start(func() (*tcpConn, error) { return h.tcp(ctx, netKey, wr.address) })
	select {
	case <-first.done:
		if first.err != nil {
			<-second.done
		}
	case <-second.done:
		if second.err != nil {
			<-first.done
		}
	}
	cancel(errFaster)
	<-first.done
	<-second.done
	switch {
	case first.err == nil:
		second.conn.close()
		return first.conn, nil, nil
	case second.err == nil:
		return nil, second.conn, errNoHTTP3
	}
	return nil, nil, second.err
}

// An attempt opens a connection in its own goroutine.
type attempt[C any] struct {
	done chan struct{} // closed after conn and err were set
	conn C
	err  error
}

func start[C any](open func() (C, error)) *attempt[C] {
	a := &attempt[C]{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.conn, a.err = open()
	}()
	return a
}

// succeeded reports whether the attempt has ended without an error.
func (a *attempt[C]) succeeded() bool {
	select {
	case <-a.done:
		return a.err == nil
	default:
		return false
	}
}

// dialAny opens a connection to the first of addrs that answers. It records the
// addresses that did not answer, or not before a TCP connection was established.
// It calls begun when the host of the URL was resolved. It also calls begun before
// it resolves another host, because a server could name one whose DNS server never
// answers. If no address answers, dialAny returns the error at the address of the
// URL, because a server chose the other addresses.
func (h *h3) dialAny(
	ctx context.Context, t *trace.Trace, wr *wireRequest, addrs []string, begun func(),
) (_ *h3conn, failed error) {
	for _, addr := range addrs {
		if !sameHost(addr, wr.address) {
			begun()
		}
		c, err := h.dial(ctx, wr, addr, begun)
		if err == nil {
			return c, nil
		}
		ended := context.Cause(ctx)
		if ended == errFaster {
			err = ended
		}
		if ended == nil || ended == errFaster {
			h.dead.mark(wr.address, addr)
			t.Connectionf("HTTP/3 at %s: %v", addr, err)
		}
		if failed == nil || addr == wr.address || ended != nil {
			failed = err
		}
		if ended != nil {
			break
		}
	}
	return nil, failed
}

// dialFirst opens a connection to one of addrs, without TCP. It tries the next
// address after the head start, or when an attempt has failed, because a server
// could name many addresses that never answer. It returns the first connection,
// cancels the other attempts and waits for their ends. Its error is that of dialAny.
func (h *h3) dialFirst(ctx context.Context, wr *wireRequest, addrs []string) (won *h3conn, failed error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type result struct {
		addr string
		conn *h3conn
		err  error
	}
	results := make(chan result)
	next := time.NewTimer(0)
	defer next.Stop()
	for started, running := 0, 0; running > 0 || started < len(addrs) && ctx.Err() == nil; {
		select {
		case <-next.C:
			if started == len(addrs) || ctx.Err() != nil {
				continue
			}
			addr := addrs[started]
			started, running = started+1, running+1
			go func() {
				c, err := h.dial(ctx, wr, addr, func() {})
				results <- result{addr, c, err}
			}()
			next.Reset(h.transport.HeadStart())
		case r := <-results:
			running--
			switch {
			case r.err == nil && won == nil:
				won = r.conn
				cancel(errFaster)
			case r.err == nil:
				r.conn.Close()
			case failed == nil || r.addr == wr.address:
				failed = r.err
			}
			next.Reset(0)
		}
	}
	switch {
	case won != nil:
		return won, nil
	case failed == nil:
		return nil, context.Cause(ctx)
	}
	return nil, failed
}

// sameHost reports whether two addresses have the same host.
func sameHost(a, b string) bool {
	host, _, err := net.SplitHostPort(a)
	other, _, otherErr := net.SplitHostPort(b)
	return err == nil && otherErr == nil && host == other
}

// deadAddresses contains the addresses that did not answer for a server, for
// deadTime. A server could otherwise name the address of another one, which
// rejects the name of the first, and would disable HTTP/3 there. The zero value is
// empty.
type deadAddresses struct {
	mu    sync.Mutex
	until map[deadAddress]time.Time
}

// A deadAddress is an address at which HTTP/3 was tried for the server at own.
type deadAddress struct{ own, addr string }

func (d *deadAddresses) has(own, addr string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Now().Before(d.until[deadAddress{own, addr}])
}

func (d *deadAddresses) mark(own, addr string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.until == nil || len(d.until) >= maxDead {
		d.until = map[deadAddress]time.Time{}
	}
	d.until[deadAddress{own, addr}] = time.Now().Add(deadTime)
}

// A tcpConn is a TLS connection that is opened before the request that uses it.
// A nil *tcpConn is no connection.
type tcpConn struct {
	*tls.Conn
	raw  *eofConn
	addr string
	used atomic.Bool
}

func (c *tcpConn) isHTTP2() bool { return c.ConnectionState().NegotiatedProtocol == "h2" }

type tcpConnKey struct{}

// attach returns a context with which dial of an h2 uses the connection.
func (c *tcpConn) attach(ctx context.Context) context.Context {
	if c == nil {
		return ctx
	}
	return context.WithValue(ctx, tcpConnKey{}, c)
}

// attachedConn returns the connection to addr that attach has added to ctx, or
// nil. It returns each connection once.
func attachedConn(ctx context.Context, addr string) *tcpConn {
	c, _ := ctx.Value(tcpConnKey{}).(*tcpConn)
	if c == nil || c.addr != addr || c.used.Swap(true) {
		return nil
	}
	return c
}

// close closes the connection unless it is used.
func (c *tcpConn) close() {
	if c != nil && !c.used.Swap(true) {
		c.Conn.Close()
	}
}
