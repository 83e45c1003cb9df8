package faultnet

import (
	"context"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
)

// Listen starts a relay to the TCP server at the address to, and returns the
// address of the relay on loopback. Its connections to the server use w. Call it
// outside of a synctest bubble.
func (w *Wires) Listen(t testing.TB, to string) (addr string) {
	t.Helper()
	server, err := netip.ParseAddrPort(to)
	if err != nil {
		t.Fatalf("faultnet: %v", err)
	}
	dial := w.Dial(func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, to.String())
	})
	addr = ServeTCP(t, func(client net.Conn) {
		near, err := dial(t.Context(), "tcp", server)
		if err != nil {
			abortTCP(client)
			return
		}
		defer near.Close()
		defer context.AfterFunc(t.Context(), func() { near.Close() })()
		var both sync.WaitGroup
		both.Go(func() { copyStream(near, client) })
		both.Go(func() { copyStream(client, near) })
		both.Wait()
	})
	t.Cleanup(w.Close) // before ServeTCP waits for its connections
	return addr
}

// copyStream copies the bytes and the end of a stream.
func copyStream(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil {
		abortTCP(to)
		abortTCP(from)
		return
	}
	to.(interface{ CloseWrite() error }).CloseWrite()
}

// abortTCP resets a connection.
func abortTCP(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}
