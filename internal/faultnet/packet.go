package faultnet

import (
	"context"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"testing"
)

// A Fate is what becomes of one datagram.
type Fate uint8

const (
	Deliver Fate = iota
	Drop         // lost
	Double       // delivered twice
	Late         // delivered after the next one, or never if none comes
)

// Fates tells the fate of the nth datagram of one direction, from 1. Nil
// delivers all.
type Fates func(n int) Fate

// Nth lets the datagrams with those numbers suffer one fate.
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

// Sometimes lets a share p of the datagrams suffer one fate, the same ones for
// the same seed.
func Sometimes(fate Fate, p float64, seed uint64) Fates {
	r := rand.New(rand.NewPCG(seed, 0))
	return func(int) Fate {
		if r.Float64() < p {
			return fate
		}
		return Deliver
	}
}

// Packets is a server of datagrams, behind a bad line.
type Packets struct {
	Answer   func(request []byte) [][]byte        // what it says to a datagram; nil: nothing
	Session  func() func(request []byte) [][]byte // makes an Answer for each client of a Network; nil: they share one
	Requests Fates                                // of what clients send
	Replies  Fates                                // of what it answers
}

// A PacketServer is a running Packets, safe for concurrent use.
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

// A direction counts its datagrams and holds back the late one.
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

// ServePackets starts a server of datagrams at addr, such as
// "192.0.2.1:1525".
func (n *Network) ServePackets(addr string, p Packets) *PacketServer {
	n.t.Helper()
	s := newPacketServer(n.t, n.parse(addr), p)
	n.add(route{"udp", s.addr}, s.dial)
	return s
}

// ListenPackets starts one on a real socket of loopback.
func ListenPackets(t testing.TB, p Packets) *PacketServer {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	s := newPacketServer(t, conn.LocalAddr().(*net.UDPAddr).AddrPort(), p)
	s.shut = func() { conn.Close() }
	s.tasks.Go(func() {
		s.hear(s.answer, func(p []byte) (int, func([]byte), error) {
			n, from, err := conn.ReadFromUDPAddrPort(p)
			return n, func(reply []byte) { conn.WriteToUDPAddrPort(reply, from) }, err
		})
	})
	return s
}

// Addr is where the server is.
func (s *PacketServer) Addr() netip.AddrPort { return s.addr }

// Requests returns the datagrams that reached the server, in their order.
func (s *PacketServer) Requests() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[:len(s.requests):len(s.requests)]
}

// Close returns when nothing of the server runs any more.
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
		s.hear(answer, func(p []byte) (int, func([]byte), error) {
			n, err := far.Read(p)
			return n, func(reply []byte) { far.Write(reply) }, err
		})
	})
	return near, nil
}

// hear answers datagrams until there are no more.
func (s *PacketServer) hear(answer func([]byte) [][]byte, read func([]byte) (n int, reply func([]byte), err error)) {
	p := make([]byte, 64<<10)
	for {
		n, reply, err := read(p)
		if err != nil {
			return
		}
		request := append([]byte(nil), p[:n]...)
		s.mu.Lock()
		s.in.pass(func() { s.take(answer, request, reply) })
		s.mu.Unlock()
	}
}

// take answers one datagram that has arrived. Its caller holds mu.
func (s *PacketServer) take(answer func([]byte) [][]byte, request []byte, reply func([]byte)) {
	s.requests = append(s.requests, request)
	if answer == nil {
		return
	}
	for _, packet := range answer(request) {
		s.out.pass(func() { reply(packet) })
	}
}
