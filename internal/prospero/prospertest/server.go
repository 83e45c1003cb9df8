// Package prospertest is a Prospero server for tests. It answers as dirsrv
// PreAlpha 5.3 was recorded to answer, datagram by datagram: those recordings
// are this package's own test.
//
// A Server holds Objects; its Answer serves internal/faultnet, in memory or on
// loopback:
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

	"github.com/anyurl/fetch/internal/prospero/ardp"
)

// A Server answers datagrams. It is safe for concurrent use.
type Server struct {
	// Tamper may change the text of a reply before it is sent; nil: it does
	// not. It is set before the first datagram.
	Tamper func(request, reply string) string

	host string // as links name the server

	mu      sync.Mutex
	objects map[string]*Object
	order   map[string][]string // the names in each directory
	calls   map[uint16]*call
}

// NewServer returns a Server without objects. Host is what its links name:
// "LOCALHOST(15250)".
func NewServer(host string) *Server {
	return &Server{host: host, objects: map[string]*Object{}, order: map[string][]string{}, calls: map[uint16]*call{}}
}

// Session is Answer for one client, whose conversations are told from those of
// others that have the same ids. What is added to s later is not seen by it.
func (s *Server) Session() func(datagram []byte) [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return (&Server{
		Tamper: s.Tamper, host: s.host, objects: maps.Clone(s.objects), order: maps.Clone(s.order), calls: map[uint16]*call{},
	}).Answer
}

// A call is one conversation: a request, and its reply until all of it was
// sent.
type call struct {
	request map[uint16][]byte
	size    int      // of the header of the request
	reply   [][]byte // the data of its packets
}

const (
	maxData = 1250 // octets of data in a packet
	window  = 16   // packets between two acknowledgements
)

// Answer answers one datagram.
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
	case c == nil, p.ID == 0, c.others(p): // who gives no id has none to be remembered by
		c = &call{request: map[uint16][]byte{}, size: p.Size}
		s.calls[p.ID] = c
	case c.reply != nil: // the request again
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

// others reports whether p, which has the id of c, is of another conversation:
// Answer does not hear whose datagram it is, and there are 65,535 ids.
func (c *call) others(p ardp.Packet) bool {
	had, ok := c.request[p.Number]
	return ok && !bytes.Equal(had, p.Data)
}

// through is how much of a request has come without a gap.
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

// send sends the packets of a reply as they are made: only the last knows how
// many there are. A reply of one packet has the shortest header there is.
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

// resend sends all that ack does not acknowledge, as far as the window goes.
// The octets of the id come out swapped.
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
