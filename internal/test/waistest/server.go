// Package waistest provides a WAIS server for tests. Its responses, including
// errors, are byte-identical to the responses of freeWAIS-sf 2.2. The tests of
// this package compare them with recordings.
//
// A [Server] serves databases. With [Server.Step], it runs as a server of
// internal/test/faultnet, in memory or on loopback:
//
//	s := &waistest.Server{Databases: map[string]*waistest.Database{"notes": {
//		Documents: []*waistest.Document{waistest.NewText("/data/a.txt", "A", "the text\n")}}}}
//	net := faultnet.NewNetwork(t)
//	net.Serve("192.0.2.1:210", faultnet.Script{s.Step()})
package waistest

import (
	"bufio"
	"io"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/wire/z3950"
)

// A Server is a WAIS server. It is safe for concurrent use if its fields do not
// change.
type Server struct {
	Databases map[string]*Database
	Host      string // name of the server in document ids; empty means "vm:2210"
	Root      string // folder of the databases in document ids; empty means "/srv/wais/idx/"
	Buffer    uint32 // maximum size of a response in bytes; 0 means 100000
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

// Step returns a step of a faultnet script that serves one connection until the
// client closes it.
func (s *Server) Step() faultnet.Step {
	return faultnet.Do("serve wais", func(c *faultnet.Conn) error { return s.Serve(c) })
}

// Serve serves the requests of one connection, one at a time. Like freeWAIS-sf,
// it discards bytes that the client sends before it receives the response. It
// returns nil if freeWAIS-sf would close the connection, or the error of the
// connection.
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

// A Session is the state of one connection.
type Session struct {
	server *Server
	size   uint32 // maximum size of a response, in bytes
	answer []byte
	chunk  []byte
}

// Session returns the state of a new connection.
func (s *Server) Session() *Session { return &Session{server: s, size: s.buffer()} }

// Answer returns the response to a request, which is valid until the next call.
// It returns false if freeWAIS-sf would close the connection or crash.
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

// init returns the response to p. It rejects clients that offer Present or
// Delete.
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
