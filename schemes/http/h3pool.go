package http

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/anyurl/fetch/internal/base/turn"
	"github.com/anyurl/fetch/internal/wire/http3/message"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// An h3conn is an open connection of an h3pool.
type h3conn struct {
	message.Conn
	net    net.Conn // the connection as fetch.Net returned it
	tls    *tls.ConnectionState
	addr   string // of the server; an alternative service has another address than the URL
	key    string
	active int         // number of requests
	limit  int         // maximum of active
	idle   *time.Timer // closes the connection if it is not used
	unused time.Time   // end of the last request
}

// An h3pool contains the HTTP/3 connections of a Client. Each connection serves
// up to message.MaxRequests requests at a time, or fewer if the server allows
// fewer.
type h3pool struct {
	done <-chan struct{} // closed with the Client

	mu       sync.Mutex
	conns    map[string][]*h3conn
	limits   map[string]int // of further connections, by key; see limit
	dialing  map[string]*h3dial
	watching bool
}

// An h3dial is an attempt to open a connection.
type h3dial struct {
	done chan struct{} // closed after the attempt
	err  error         // of the attempt, for the requests that wait for it
}

// get returns a connection with the given key to one of the servers at addrs.
// The connection may be a new one. The caller calls put after its request. Only
// one connection per key is opened at a time, so that concurrent requests share
// it, or its error. A request that has waited for it pauses.
func (p *h3pool) get(
	ctx context.Context, key string, addrs []string, dial func() (*h3conn, error),
) (c *h3conn, reused bool, err error) {
	for {
		c, wait := p.claim(key, addrs)
		if c != nil {
			return c, true, nil
		}
		if wait == nil {
			break
		}
		select {
		case <-wait.done:
			if wait.err != nil {
				return nil, false, wait.err
			}
			turn.Pause(ctx)
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
	c, err = dial()
	p.mu.Lock()
	defer p.mu.Unlock()
	attempt := p.dialing[key]
	defer close(attempt.done)
	delete(p.dialing, key)
	if err != nil {
		if ctx.Err() == nil { // otherwise, only this request has ended
			attempt.err = err
		}
		return nil, false, err
	}
	c.key, c.active, c.limit = key, 1, cmp.Or(p.limits[key], message.MaxRequests)
	p.conns[key] = append(p.conns[key], c)
	return c, false, nil
}

// claim returns an open connection, or a running attempt to connect. If both are
// nil, the caller has to connect.
func (p *h3pool) claim(key string, addrs []string) (*h3conn, *h3dial) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		p.conns, p.limits, p.dialing = map[string][]*h3conn{}, map[string]int{}, map[string]*h3dial{}
	}
	if !p.watching && p.done != nil {
		p.watching = true
		go p.watch()
	}
	p.conns[key] = slices.DeleteFunc(p.conns[key], func(c *h3conn) bool {
		unusable := !c.Usable()
		if unusable && c.active == 0 {
			c.Close()
		}
		return unusable
	})
	for _, c := range p.conns[key] {
		if c.active < c.limit && slices.Contains(addrs, c.addr) {
			c.active++
			if c.idle != nil {
				c.idle.Stop()
			}
			return c, nil
		}
	}
	p.forget(key)
	if wait := p.dialing[key]; wait != nil {
		return nil, wait
	}
	p.dialing[key] = &h3dial{done: make(chan struct{})}
	return nil, nil
}

// put ends a request on c. An unused connection is closed after a while, or if there
// are too many.
func (p *h3pool) put(c *h3conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.active--; c.active > 0 {
		return
	}
	if p.closed() || !c.Usable() {
		p.remove(c)
		return
	}
	c.idle, c.unused = time.AfterFunc(sessions.IdleTimeout, func() { p.closeIdle(c) }), time.Now()
	p.closeSurplus()
}

// closeSurplus closes the connection that is unused for the longest time if more than
// maxIdle are unused. The caller must hold p.mu.
func (p *h3pool) closeSurplus() {
	n := 0
	var first *h3conn
	for _, list := range p.conns {
		for _, c := range list {
			if c.active > 0 {
				continue
			}
			if n++; first == nil || c.unused.Before(first.unused) {
				first = c
			}
		}
	}
	if n > maxIdle {
		first.idle.Stop()
		p.remove(first)
	}
}

// limit reduces the maximum number of requests on c to the current number, because
// the server allows no more streams. The same applies to later connections with the
// key of c. It reports false if no request uses c.
func (p *h3pool) limit(c *h3conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.active == 0 {
		return false
	}
	c.limit = c.active
	p.limits[c.key] = c.limit
	return true
}

// closeIdle closes c unless a request uses it.
func (p *h3pool) closeIdle(c *h3conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.active == 0 {
		p.remove(c)
	}
}

// remove closes c, which no request uses. The caller must hold p.mu.
func (p *h3pool) remove(c *h3conn) {
	c.Close()
	p.conns[c.key] = slices.DeleteFunc(p.conns[c.key], func(other *h3conn) bool { return other == c })
	p.forget(c.key)
}

// forget removes a key without connections. The caller must hold p.mu.
func (p *h3pool) forget(key string) {
	if len(p.conns[key]) == 0 {
		delete(p.conns, key)
		delete(p.limits, key)
	}
}

func (p *h3pool) closed() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// watch waits until the Client is closed and then closes the unused
// connections.
func (p *h3pool) watch() {
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, list := range p.conns {
		for _, c := range list {
			if c.active == 0 {
				c.idle.Stop()
				c.Close()
			}
		}
	}
}
