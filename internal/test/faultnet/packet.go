package faultnet

import (
	"context"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"testing"
)

// A Fate states whether a datagram is delivered, lost, duplicated or delayed.
type Fate uint8

const (
	Deliver Fate = iota
	Drop         // lost
	Double       // delivered twice
	Late         // delivered after the next one, or never if none comes
)

// Fates is a function that returns the Fate of the nth datagram in one
// direction. If it is nil, all datagrams are delivered.
type Fates func(n int) Fate

// Nth returns Fates that apply fate to the datagrams with the given numbers,
// counted from 1. All other datagrams are delivered.
func Nth(fate Fate, numbers ...int) Fates {
	return func(n int) Fate {
		for _, number := range numbers {
			if n == number {
				return fate
			}
		}
		return Deliver
	}
}

// Sometimes returns Fates that apply fate to each datagram with probability p.
// The same seed always selects the same datagrams.
func Sometimes(fate Fate, p float64, seed uint64) Fates {
	r := rand.New(rand.NewPCG(seed, 0))
	return func(int) Fate {
		if r.Float64() < p {
			return fate
		}
		return Deliver
	}
}

// Packets configures a datagram server whose network loses, duplicates or
// delays datagrams.
type Packets struct {
	Answer   func(request []byte) [][]byte        // returns the replies to a datagram; nil: no replies
	Session  func() func(request []byte) [][]byte // returns a new Answer for each client of a Network; nil: clients share Answer
	Requests Fates                                // fates of the clients' datagrams
	Replies  Fates                                // fates of the replies
}

// A PacketServer is a running datagram server, started by ServePackets or
// ListenPackets. It is safe for concurrent use.
type PacketServer struct {
	addr  netip.AddrPort
	shut  func()
	tasks sync.WaitGroup

	mu       sync.Mutex
	answer   func([]byte) [][]byte
	session  func() func([]byte) [][]byte
	in, out  direction
	requests [][]byte
	conns    []net.Conn
	isClosed bool
}

// A direction delivers the datagrams of one direction according to their Fates.
type direction struct {
	fates Fates
	n     int
	late  []func()
}

func (d *direction) pass(deliver func()) {
	d.n++
	fate := Deliver
	if d.fates != nil {
		fate = d.fates(d.n)
	}
	if fate == Late {
		d.late = append(d.late, deliver)
		return
	}
	if fate != Drop {
		deliver()
	}
	if fate == Double {
		deliver()
	}
	for _, deliver := range d.late {
		deliver()
	}
	d.late = nil
}

func newPacketServer(t testing.TB, addr netip.AddrPort, p Packets) *PacketServer {
	s := &PacketServer{addr: addr, shut: func() {}, answer: p.Answer, session: p.Session}
	s.in.fates, s.out.fates = p.Requests, p.Replies
	t.Cleanup(s.Close)
	return s
}

// ServePackets starts a datagram server at addr, such as "192.0.2.1:1525".
func (n *Network) ServePackets(addr string, p Packets) *PacketServer {
	n.t.Helper()
	s := newPacketServer(n.t, n.parse(addr), p)
	n.add(route{"udp", s.addr}, s.dial)
	return s
}

// ListenPackets starts a datagram server on a loopback socket.
func ListenPackets(t testing.TB, p Packets) *PacketServer {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	s := newPacketServer(t, conn.LocalAddr().(*net.UDPAddr).AddrPort(), p)
	s.shut = func() { conn.Close() }
	s.tasks.Go(func() {
		s.serve(s.answer, func(p []byte) (int, func([]byte), error) {
			n, from, err := conn.ReadFromUDPAddrPort(p)
			return n, func(reply []byte) { conn.WriteToUDPAddrPort(reply, from) }, err
		})
	})
	return s
}

// Addr returns the address of the server.
func (s *PacketServer) Addr() netip.AddrPort { return s.addr }

// Requests returns the datagrams that reached the server, in order.
func (s *PacketServer) Requests() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[:len(s.requests):len(s.requests)]
}

// Close stops the server and waits for its goroutines.
func (s *PacketServer) Close() {
	s.mu.Lock()
	s.isClosed = true
	s.shut()
	for _, c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.tasks.Wait()
}

func (s *PacketServer) dial(_ context.Context, from netip.AddrPort) (net.Conn, error) {
	near, far := PacketPipe(from, s.addr)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isClosed {
		far.Close()
		return near, nil
	}
	s.conns = append(s.conns, far)
	answer := s.answer
	if s.session != nil {
		answer = s.session()
	}
	s.tasks.Go(func() {
		s.serve(answer, func(p []byte) (int, func([]byte), error) {
			n, err := far.Read(p)
			return n, func(reply []byte) { far.Write(reply) }, err
		})
	})
	return near, nil
}

// serve replies to datagrams until read fails.
func (s *PacketServer) serve(answer func([]byte) [][]byte, read func([]byte) (n int, reply func([]byte), err error)) {
	p := make([]byte, 64<<10)
	for {
		n, reply, err := read(p)
		if err != nil {
			return
		}
		request := append([]byte(nil), p[:n]...)
		s.mu.Lock()
		s.in.pass(func() { s.handle(answer, request, reply) })
		s.mu.Unlock()
	}
}

// handle replies to one received datagram. The caller holds s.mu.
func (s *PacketServer) handle(answer func([]byte) [][]byte, request []byte, reply func([]byte)) {
	s.requests = append(s.requests, request)
	if answer == nil {
		return
	}
	for _, packet := range answer(request) {
		s.out.pass(func() { reply(packet) })
	}
}
