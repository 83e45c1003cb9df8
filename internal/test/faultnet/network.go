package faultnet

import (
	"context"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// A Network is an in-memory network for tests. Use its Dial method in
// fetch.Options.
type Network struct {
	t testing.TB

	mu     sync.Mutex
	routes map[route]dialler
	dialed []Dialed
}

// A Dialed records one attempt to connect.
type Dialed struct {
	Network string
	To      netip.AddrPort
}

type route struct {
	network string // "tcp" or "udp"
	addr    netip.AddrPort
}

type dialler func(ctx context.Context, from netip.AddrPort) (net.Conn, error)

// NewNetwork returns a Network without servers. In a testing/synctest bubble, t
// must be the T of the bubble.
func NewNetwork(t testing.TB) *Network {
	return &Network{t: t, routes: map[route]dialler{}}
}

// Serve starts a server at addr, such as "192.0.2.1:70".
func (n *Network) Serve(addr string, scripts ...Script) *Server {
	n.t.Helper()
	s := newServer(n.t, n.parse(addr), scripts)
	n.add(route{"tcp", s.addr}, s.dial)
	return s
}

func (n *Network) parse(addr string) netip.AddrPort {
	n.t.Helper()
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		n.t.Fatal(err)
	}
	return to
}

func (n *Network) add(r route, d dialler) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.routes[r] = d
}

// Dial connects to a server of the Network. It returns ECONNREFUSED if there is
// no server at the address.
func (n *Network) Dial(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	n.mu.Lock()
	n.dialed = append(n.dialed, Dialed{network, to})
	from := netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, 254}), uint16(40000+len(n.dialed)%20000))
	kind := strings.TrimRight(network, "46")
	dial := n.routes[route{kind, to}]
	n.mu.Unlock()
	conn, err := net.Conn(nil), ctx.Err()
	switch {
	case err != nil:
	case dial != nil:
		conn, err = dial(ctx, from)
	case kind == "udp": // a refused UDP dial succeeds, and the first read fails
		near, far := PacketPipe(from, to)
		far.out.finish(syscall.ECONNREFUSED, nil)
		return near, nil
	default:
		err = os.NewSyscallError("connect", syscall.ECONNREFUSED)
	}
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: net.TCPAddrFromAddrPort(to), Err: err}
	}
	return conn, nil
}

// Dialed returns all attempts to connect, including refused ones, in order.
func (n *Network) Dialed() []Dialed {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dialed[:len(n.dialed):len(n.dialed)]
}

func (s *Server) dial(ctx context.Context, from netip.AddrPort) (net.Conn, error) {
	refused := os.NewSyscallError("connect", syscall.ECONNREFUSED)
	if s.isDown() {
		return nil, refused
	}
	script := s.next()
	switch {
	case script.begins(refuse):
		return nil, refused
	case script.begins(blackhole):
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	near, far := Pipe(from, s.addr)
	s.serve(far, script)
	return near, nil
}
