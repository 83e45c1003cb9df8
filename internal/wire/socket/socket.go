// Package socket sets options of connections that package fetch has opened. The
// drivers of this module use it for speed.
package socket

import "net"

// A Tuner is a connection of package fetch, whose socket has options.
type Tuner interface {
	SetQuickAck()
	SetBlockingReads()
}

// tunerOf returns the Tuner that a TLS connection or a tap wraps, or nil if c
// wraps no Tuner.
func tunerOf(c net.Conn) Tuner {
	for c != nil {
		if t, ok := c.(Tuner); ok {
			return t
		}
		below, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		c = below.NetConn()
	}
	return nil
}

// SetQuickAck disables delayed acknowledgments for c, if the system supports
// it. It speeds up responses that a server sends in several small writes. By
// Nagle's algorithm, each write waits for the acknowledgment of the previous
// write, usually for 40 ms. SetQuickAck must be called before the first read. It
// has no effect if package fetch has not opened c.
func SetQuickAck(c net.Conn) {
	if t := tunerOf(c); t != nil {
		t.SetQuickAck()
	}
}

// SetBlockingReads makes each Read of c block its thread for up to 5 ms before
// the Read waits in the network poller of the Go runtime. A Read does this only
// if no other such Read of the Client was in progress during the last 20 ms.
// Requests on a single connection then take less processor time, because the
// runtime does not stop and start its threads for each reply.
//
// SetBlockingReads must be called before the first Read. It is unsuitable for a
// connection that is always being read, such as a connection of HTTP/2. It has
// no effect if package fetch has not opened c, or if the operating system does
// not support it.
func SetBlockingReads(c net.Conn) {
	if t := tunerOf(c); t != nil {
		t.SetBlockingReads()
	}
}
