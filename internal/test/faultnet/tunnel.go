package faultnet

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"
	"time"
)

// A Direction selects bytes of a Tunnel.
type Direction uint8

// Directions of the bytes of a Tunnel.
const (
	Requests  Direction = 1 << iota // from the client to the server
	Responses                       // from the server to the client
)

// A Tunnel forwards TCP connections to a server until it is stopped. Then it
// still accepts connections and reads their bytes, but forwards none, like a
// network that loses all packets.
type Tunnel struct {
	Addr    string        // address of the Tunnel on loopback
	Stopped chan struct{} // closed when the Tunnel has stopped

	to string

	mu    sync.Mutex
	stops Direction // directions that are not forwarded
	at    []byte    // text of a request at which the Tunnel stops, or nil
	then  Direction // directions that are not forwarded after at
}

// NewTunnel starts a Tunnel to the server at the address to. It ends at the end of
// the test.
func NewTunnel(t testing.TB, to string) *Tunnel {
	t.Helper()
	n := &Tunnel{Stopped: make(chan struct{}), to: to}
	n.Addr = ServeTCP(t, func(conn net.Conn) { n.forward(t.Context(), conn) })
	return n
}

// cancelLimit is the time in which a canceled call must return. The calls need
// less than a second, also on a busy machine.
const cancelLimit = time.Minute

// CheckCanceled calls call, cancels its context when the Tunnel has stopped, and
// reports a test failure if call succeeds or does not return.
func (n *Tunnel) CheckCanceled(t testing.TB, call func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- call(ctx) }()
	select {
	case <-n.Stopped:
	case <-time.After(cancelLimit):
		t.Error("the network was not cut")
	}
	cancel()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("the call succeeded")
		}
	case <-time.After(cancelLimit):
		t.Error("the call did not return")
	}
}

// ServeTCP starts a server on loopback and returns its address. It calls serve for
// each connection, in a goroutine, and then closes the connection. At the end of
// the test, it closes all connections and waits for the calls.
func ServeTCP(t testing.TB, serve func(net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("faultnet: %v", err)
	}
	ctx := t.Context()
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer context.AfterFunc(ctx, func() { conn.Close() })()
				defer conn.Close()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	return l.Addr().String()
}

// Stop stops the Tunnel in the given directions.
func (n *Tunnel) Stop(d Direction) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stop(d)
}

func (n *Tunnel) stop(d Direction) {
	if n.stops == 0 {
		close(n.Stopped)
	}
	n.stops |= d
}

// StopAt stops the Tunnel when a client sends the text, which must be part of one
// write. If d contains Requests, the text itself is not forwarded.
func (n *Tunnel) StopAt(text string, d Direction) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.at, n.then = []byte(text), d
}

// forward forwards the bytes of one connection. It ends when both sides have
// closed it, or when ctx ends.
func (n *Tunnel) forward(ctx context.Context, client net.Conn) {
	server, err := net.Dial("tcp", n.to)
	if err != nil {
		return
	}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	defer server.Close()
	var both sync.WaitGroup
	both.Go(func() { n.copy(server, client, Requests) })
	both.Go(func() { n.copy(client, server, Responses) })
	both.Wait()
}

// copy forwards bytes in the direction d, and the end of the connection.
func (n *Tunnel) copy(to, from net.Conn, d Direction) {
	buffer := make([]byte, 64<<10)
	for {
		m, err := from.Read(buffer)
		if n.forwards(buffer[:m], d) {
			to.Write(buffer[:m])
		}
		if err != nil {
			break
		}
	}
	if n.forwards(nil, d) {
		to.Close()
	}
}

// forwards reports whether bytes in the direction d are forwarded.
func (n *Tunnel) forwards(p []byte, d Direction) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if d == Requests && n.stops == 0 && n.at != nil && bytes.Contains(p, n.at) {
		n.stop(n.then)
	}
	return n.stops&d == 0
}
