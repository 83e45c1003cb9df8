// Package waistest is a WAIS server for tests. It answers as freeWAIS-sf 2.2
// was recorded to answer, byte by byte, its faults included: those recordings
// are this package's own test.
//
// A Server holds Databases; Step makes it a server of internal/faultnet, in
// memory or on loopback:
//
//	s := &waistest.Server{Databases: map[string]*waistest.Database{"notes": {
//		Documents: []*waistest.Document{waistest.NewText("/data/a.txt", "A", "the text\n")}}}}
//	net := faultnet.NewNetwork(t)
//	net.Serve("192.0.2.1:210", faultnet.Script{s.Step()})
package waistest

import (
	"bufio"
	"io"

	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/internal/z3950"
)

// A Server answers requests. Its fields are set before it is used; it is safe
// for concurrent use.
type Server struct {
	Databases map[string]*Database
	Host      string // as document ids name the server; "": "vm:2210"
	Root      string // folder of the databases, as ids name it; "": "/srv/wais/idx/"
	Buffer    uint32 // the largest answer in bytes; 0: 100000
}

func (s *Server) host() string {
	if s.Host == "" {
		return "vm:2210"
	}
	return s.Host
}

func (s *Server) root() string {
	if s.Root == "" {
		return "/srv/wais/idx/"
	}
	return s.Root
}

func (s *Server) buffer() uint32 {
	if s.Buffer == 0 {
		return 100000
	}
	return s.Buffer
}

// Step serves one connection of a faultnet script until its client closes it.
func (s *Server) Step() faultnet.Step {
	return faultnet.Do("serve wais", func(c *faultnet.Conn) error { return s.Serve(c) })
}

// Serve answers the requests of one connection, one at a time. What was sent
// behind a request is lost, as with freeWAIS: a client must not be ahead. The
// error is that of the connection, or nil where freeWAIS would close it.
func (s *Server) Serve(c io.ReadWriter) error {
	in := bufio.NewReader(c)
	session := s.Session()
	for {
		request := make([]byte, z3950.HeaderSize)
		if _, err := io.ReadFull(in, request); err != nil {
			return err
		}
		h, err := z3950.ParseHeader(request)
		if err != nil {
			return nil
		}
		request = append(request, make([]byte, h.Length)...)
		if _, err := io.ReadFull(in, request[z3950.HeaderSize:]); err != nil {
			return err
		}
		in.Discard(in.Buffered())
		answer, ok := session.Answer(request)
		if !ok {
			return nil
		}
		if _, err := c.Write(answer); err != nil {
			return err
		}
	}
}

// A Session is what the server knows of one connection.
type Session struct {
	server *Server
	size   uint32 // of an answer
	answer []byte
	chunk  []byte
}

// Session returns the state of a new connection.
func (s *Server) Session() *Session { return &Session{server: s, size: s.buffer()} }

// Answer answers one message with one, valid until the next call. It is false
// where freeWAIS closes the connection, or dies.
func (c *Session) Answer(message []byte) (answer []byte, ok bool) {
	if len(message) < z3950.HeaderSize {
		return nil, false
	}
	h, err := z3950.ParseHeader(message[:z3950.HeaderSize])
	if err != nil {
		return nil, false
	}
	request, err := z3950.Decode(message[z3950.HeaderSize:])
	if err != nil {
		return z3950.AppendMessage(nil, h, nil), true
	}
	var p z3950.PDU
	switch request := request.(type) {
	case *z3950.Init:
		p = c.init(request)
	case *z3950.Search:
		switch string(request.Type) {
		case z3950.WAISQuery:
			p = c.search(request)
		case z3950.TermQuery:
			p, ok = c.retrieve(request)
			if !ok {
				return nil, false
			}
		}
	}
	c.answer = z3950.AppendMessage(c.answer[:0], h, p)
	if uint32(len(c.answer)-z3950.HeaderSize) > c.size {
		c.answer = z3950.AppendMessage(c.answer[:0], h, nil)
	}
	return c.answer, true
}

// init refuses whoever offers Present or Delete.
func (c *Session) init(p *z3950.Init) z3950.PDU {
	answer := &z3950.InitResponse{
		Accepted: len(p.Options) > 0 && p.Options[0]&0x60 == 0,
		Parameters: z3950.Parameters{
			Version: []byte{0x80}, Options: []byte{0x80},
			Preferred:      z3950.Some(min(c.server.buffer(), p.Preferred.Value)),
			Maximum:        z3950.Some(min(c.server.buffer(), p.Maximum.Value)),
			Implementation: []byte("LS6"), Implementor: []byte("University of Dortmund Informatik VI"), Release: []byte("2.2.8 string"),
			Reference: p.Reference,
		},
		ChunkCode: z3950.Some(0), ChunkIDLength: z3950.Some(0),
	}
	c.size = answer.Maximum.Value
	return answer
}
