// Package connlimit limits the open connections of a server.
package connlimit

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
	"time"
)

// A Listener closes new connections that Admit does not permit. It also closes
// connections whose clients read no data.
type Listener struct {
	net.Listener

	// Admit counts a connection until release is called. It returns false if
	// the connection must be closed.
	Admit func(net.Conn) (release func(), ok bool)

	// Stall is the maximum duration of one Write. It must be positive.
	Stall time.Duration
}

// Accept returns the next permitted connection.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if release, ok := l.Admit(c); ok {
			return &conn{Conn: c, release: release, stall: l.Stall}, nil
		}
		c.Close()
	}
}

// A conn counts until it is closed. Each Write has a deadline.
type conn struct {
	net.Conn
	release func()
	stall   time.Duration

	mu       sync.Mutex
	deadline time.Time // the deadline of the server, or zero
}

// Close closes the connection.
func (c *conn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// Write writes p within the time limit.
func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	end := time.Now().Add(c.stall)
	if !c.deadline.IsZero() && c.deadline.Before(end) {
		end = c.deadline
	}
	c.Conn.SetWriteDeadline(end) // after an error, Write fails too
	c.mu.Unlock()
	return c.Conn.Write(p)
}

// SetWriteDeadline sets the deadline of the following calls of Write. It can
// shorten the deadline of a running call, but not extend it.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	if !t.IsZero() && time.Until(t) < c.stall {
		return c.Conn.SetWriteDeadline(t)
	}
	return nil
}

// SetDeadline sets the deadlines of Read and Write.
func (c *conn) SetDeadline(t time.Time) error {
	if err := c.Conn.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// A Table counts the connections of a server by their clients. A client is an
// IPv4 address or a prefix of 64 bits of IPv6 addresses.
type Table struct {
	PerClient int  // maximum number of connections of a client
	Total     int  // maximum number of all connections
	Replace   bool // close the oldest connection instead of the new one

	mu    sync.Mutex
	conns list.List // entries; the oldest comes first
	count map[netip.Prefix]int
}

type entry struct {
	client netip.Prefix
	conn   net.Conn
}

// ClientOf returns the client with the given address and port. All addresses of
// other networks than TCP belong to one client.
func ClientOf(address string) netip.Prefix {
	peer, _ := netip.ParseAddrPort(address)
	addr := peer.Addr().Unmap().WithZone("")
	client, _ := addr.Prefix(min(addr.BitLen(), 64))
	return client
}

// Admit counts a connection, for [Listener].
func (t *Table) Admit(c net.Conn) (release func(), ok bool) {
	client := ClientOf(c.RemoteAddr().String())
	t.mu.Lock()
	defer t.mu.Unlock()
	full := t.count[client] >= t.PerClient
	for full || t.conns.Len() >= t.Total {
		if !t.Replace {
			return nil, false
		}
		t.closeOldest(client, full)
		full = false
	}
	if t.count == nil {
		t.count = map[netip.Prefix]int{}
	}
	e := t.conns.PushBack(entry{client, c})
	t.count[client]++
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.remove(e)
	}), true
}

// closeOldest closes the oldest connection, or the oldest connection of the given
// client.
func (t *Table) closeOldest(client netip.Prefix, ofClient bool) {
	for e := t.conns.Front(); e != nil; e = e.Next() {
		if old := e.Value.(entry); !ofClient || old.client == client {
			old.conn.Close() // the server notices it at its next call
			t.remove(e)
			return
		}
	}
}

// remove removes an entry, unless it has been removed before.
func (t *Table) remove(e *list.Element) {
	old, ok := e.Value.(entry)
	if !ok {
		return
	}
	t.conns.Remove(e)
	e.Value = nil
	if t.count[old.client]--; t.count[old.client] == 0 {
		delete(t.count, old.client)
	}
}
