// Package prospertest provides a Prospero server for tests. It reproduces the
// recorded replies of dirsrv PreAlpha 5.3 byte by byte, which its own tests
// check.
//
// A Server holds Objects. Its method Answer works with internal/test/faultnet, in
// memory or on loopback:
//
//	s := prospertest.NewServer("LOCALHOST(1525)")
//	s.Add(prospertest.Object{Name: "AFTP/pub/a.txt", Target: "FILE", Contents: []byte("text\n")})
//	net := faultnet.NewNetwork(t)
//	net.ServePackets("192.0.2.1:1525", faultnet.Packets{Answer: s.Answer})
package prospertest

import (
	"bytes"
	"maps"
	"math/bits"
	"sync"

	"github.com/anyurl/fetch/internal/wire/prospero/ardp"
)

// A Server replies to datagrams. It is safe for concurrent use.
type Server struct {
	// Tamper changes the text of a reply before it is sent. It may be nil, and
	// must be set before the first datagram.
	Tamper func(request, reply string) string

	host string // host name in links to objects of this server

	mu      sync.Mutex
	objects map[string]*Object
	order   map[string][]string // names in each directory, in order
	calls   map[uint16]*call
}

// NewServer returns a Server without objects. Links name the server as host,
// such as "LOCALHOST(15250)".
func NewServer(host string) *Server {
	return &Server{host: host, objects: map[string]*Object{}, order: map[string][]string{}, calls: map[uint16]*call{}}
}

// Session returns a function that answers the datagrams of one client. Each
// client needs its own function, because clients may use equal conversation
// ids.
func (s *Server) Session() func(datagram []byte) [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return (&Server{
		Tamper: s.Tamper, host: s.host, objects: maps.Clone(s.objects), order: maps.Clone(s.order), calls: map[uint16]*call{},
	}).Answer
}

// A call is one conversation: a request and its reply.
type call struct {
	request map[uint16][]byte
	size    int      // size of the header of the request
	reply   [][]byte // the data of the packets of the reply
}

const (
	maxData = 1250 // bytes of data in a packet
	window  = 16   // packets between two acknowledgements
)

// Answer returns the replies to one datagram.
func (s *Server) Answer(datagram []byte) [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := ardp.Parse(datagram)
	if err != nil {
		return nil
	}
	c := s.calls[p.ID]
	switch {
	case p.Number == 0 && c == nil:
		return nil
	case p.Number == 0:
		return c.resend(p)
	case c == nil, p.ID == 0, c.others(p): // without an id, a conversation cannot be continued
		c = &call{request: map[uint16][]byte{}, size: p.Size}
		s.calls[p.ID] = c
	case c.reply != nil: // a repeated request
		return c.resend(p)
	}
	c.request[p.Number] = append([]byte(nil), p.Data...)
	if len(c.request) < int(p.Total) {
		return [][]byte{ardp.Packet{Size: 9, ID: p.ID, Received: c.through()}.Append(nil)}
	}
	var request []byte
	for n := range p.Total {
		request = append(request, c.request[n+1]...)
	}
	text := s.reply(string(request))
	if s.Tamper != nil {
		text = s.Tamper(string(request), text)
	}
	c.cut([]byte(text))
	return c.send(p.ID)
}

// others reports whether p belongs to another conversation with the same id.
// Answer cannot identify the sender of a datagram, and there are only 65,535 ids.
func (c *call) others(p ardp.Packet) bool {
	had, ok := c.request[p.Number]
	return ok && !bytes.Equal(had, p.Data)
}

// through returns the number of the last packet received without a gap.
func (c *call) through() (n uint16) {
	for c.request[n+1] != nil {
		n++
	}
	return n
}

func (c *call) cut(text []byte) {
	for len(text) > maxData {
		c.reply, text = append(c.reply, text[:maxData]), text[maxData:]
	}
	c.reply = append(c.reply, text)
}

// send returns the packets of a reply. Only the last packet contains the total
// number. A reply of one packet has the shortest possible header.
func (c *call) send(id uint16) (packets [][]byte) {
	if len(c.reply) == 1 {
		return [][]byte{ardp.Packet{Size: min(c.size, 3), ID: id, Number: 1, Total: 1, Data: c.reply[0]}.Append(nil)}
	}
	for i := range min(len(c.reply), window) {
		p := ardp.Packet{Size: 7, ID: id, Number: uint16(i + 1), Data: c.reply[i]}
		if i+1 == len(c.reply) {
			p.Total = uint16(len(c.reply))
		} else if i+1 == window {
			p.Size, p.Received, p.HasWait, p.Ack = 12, 1, true, true
		}
		packets = append(packets, p.Append(nil))
	}
	return packets
}

// resend returns the packets that ack does not acknowledge, at most a window of
// them. Like dirsrv, it swaps the bytes of the id.
func (c *call) resend(ack ardp.Packet) (packets [][]byte) {
	from := int(ack.Received)
	for i := from; i < min(len(c.reply), from+window); i++ {
		p := ardp.Packet{Size: 9, ID: bits.ReverseBytes16(ack.ID), Number: uint16(i + 1), Total: uint16(len(c.reply)), Received: 1, Data: c.reply[i]}
		if i+1 == from+window && i+1 < len(c.reply) {
			p.Size, p.HasWait, p.Ack = 12, true, true
		}
		packets = append(packets, p.Append(nil))
	}
	return packets
}
