// Package quota limits how much each client of a public server can use. A
// client is an IPv4 address or a prefix of 64 bits of IPv6 addresses, because
// one subscriber usually has all addresses of such a prefix.
package quota

import (
	"container/list"
	"context"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits are the limits for each client. All fields must be positive.
type Limits struct {
	Requests    int // requests per minute
	Running     int // requests that run at the same time
	Connections int // open connections
	Bytes       int // response bytes per second, averaged over a minute
}

// maxClients is the maximum number of idle clients in a Table. An idle client
// has no connection and no running request.
const maxClients = 16 << 10

// A Table counts the connections, requests and bytes of each client of a
// server. It is safe for concurrent use.
type Table struct {
	limits Limits

	mu      sync.Mutex
	clients map[netip.Prefix]*client
	idle    *list.List // clients without connections and running requests; the latest comes first
}

// A client records the connections, requests and bytes of one client.
type client struct {
	prefix               netip.Prefix
	connections, running int
	requests, bytes      *rate.Limiter
	idle                 *list.Element // the element in Table.idle, or nil
}

// New returns an empty Table.
func New(limits Limits) *Table {
	return &Table{limits: limits, clients: map[netip.Prefix]*client{}, idle: list.New()}
}

// prefixOf returns the prefix that identifies the client at an address.
func prefixOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	return netip.PrefixFrom(a, bits).Masked()
}

// claim calls the function take with the client at an address, and returns the
// client. It returns nil if take returns false. The Table is locked during the
// call.
func (t *Table) claim(a netip.Addr, take func(*client) bool) *client {
	t.mu.Lock()
	defer t.mu.Unlock()
	prefix := prefixOf(a)
	c := t.clients[prefix]
	if c == nil {
		const minute = 60
		c = &client{
			prefix: prefix, requests: rate.NewLimiter(rate.Limit(t.limits.Requests)/minute, t.limits.Requests),
			bytes: rate.NewLimiter(rate.Limit(t.limits.Bytes), t.limits.Bytes*minute),
		}
		t.clients[prefix] = c
	}
	taken := take(c)
	t.settle(c)
	if !taken {
		return nil
	}
	return c
}

// release calls the function give with a client while the Table is locked.
func (t *Table) release(c *client, give func(*client)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	give(c)
	t.settle(c)
}

// settle updates the list of idle clients after a change of c. If the list is
// too long, it removes the clients that were idle for the longest time.
func (t *Table) settle(c *client) {
	if c.idle != nil {
		t.idle.Remove(c.idle)
		c.idle = nil
	}
	if c.connections == 0 && c.running == 0 {
		c.idle = t.idle.PushFront(c)
	}
	for t.idle.Len() > maxClients {
		last := t.idle.Remove(t.idle.Back()).(*client)
		delete(t.clients, last.prefix)
	}
}

// Connect counts a new connection of the client at an address. It returns false
// if the client has too many connections. The caller must call release when the
// connection is closed.
func (t *Table) Connect(a netip.Addr) (release func(), ok bool) {
	c := t.claim(a, func(c *client) bool {
		if c.connections >= t.limits.Connections {
			return false
		}
		c.connections++
		return true
	})
	if c == nil {
		return nil, false
	}
	return sync.OnceFunc(func() { t.release(c, func(c *client) { c.connections-- }) }), true
}

// A Use is a running request of a client.
type Use struct {
	table  *Table
	client *client
}

// Begin counts a new request of the client at an address. It returns false if
// the client has reached a limit. The caller calls [Use.End] when the request
// has ended. A rejected request does not count.
func (t *Table) Begin(a netip.Addr) (*Use, bool) {
	c := t.claim(a, func(c *client) bool {
		if c.running >= t.limits.Running || !c.requests.Allow() {
			return false
		}
		c.running++
		return true
	})
	if c == nil {
		return nil, false
	}
	return &Use{t, c}, true
}

// End ends the request. It must be called once.
func (u *Use) End() { u.table.release(u.client, func(c *client) { c.running-- }) }

// Wait blocks until the client may receive n further bytes. All requests of the
// client share one limit. Wait returns the error of ctx, or an error if the
// deadline of ctx is too early.
func (u *Use) Wait(ctx context.Context, n int) error {
	for burst := u.client.bytes.Burst(); n > 0; n -= burst {
		if err := u.client.bytes.WaitN(ctx, min(n, burst)); err != nil {
			return err
		}
	}
	return nil
}

// RetryAfter is the time after which a rejected client can try again.
const RetryAfter = 10 * time.Second
