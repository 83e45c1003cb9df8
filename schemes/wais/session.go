package wais

import (
	"errors"
	"io"
	"net"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/sessions"
	"github.com/anyurl/fetch/internal/z3950"
)

// A session is a conversation with a server: one request, one answer, and
// never a second request before. It belongs to one request at a time.
type session struct {
	*sessions.Conn
	in   *z3950.Reader // reads Conn
	size uint32        // of the largest answer, as agreed on
	out  []byte

	length int  // of the last answer
	rested bool // the last answer was read to its end
}

func newSession(conn net.Conn, trace *fetch.Trace) *session {
	s := &session{Conn: sessions.NewConn(conn, trace, "")} // the protocol has no goodbye
	s.in = z3950.NewReader(s)
	return s
}

// Claim rejects a session on which anything arrived while it was idle.
func (s *session) Claim(t *fetch.Trace) bool {
	return s.Conn.Claim(t) && s.in.Buffered() == 0 && fetch.IsQuiet(s.Stream)
}

// Release accepts another request only after the end of an answer.
func (s *session) Release() bool {
	s.SetReplyTimeout(0)
	return s.Conn.Release() && s.rested && s.in.Buffered() == 0
}

const (
	usualSize = 100_000 // of an answer: what freeWAIS allows at the most
	maxSize   = 8 << 20 // what we ask for at the most
	hitSize   = 512     // of a hit, generously
	replyTime = 2 * time.Minute
)

// answerSize is how large an answer with so many hits may have to be. A server
// drops the hits that do not fit.
func answerSize(hits int) uint32 {
	return uint32(max(usualSize, min(int64(hits)*hitSize, maxSize)))
}

// init agrees on the size of answers.
func (s *session) init(size uint32) error {
	if err := s.ask(z3950.NewInit("fetch", size)); err != nil {
		return err
	}
	p, err := s.in.PDU()
	if err != nil {
		return wireFault(err)
	}
	s.rested = true
	answer, ok := p.(*z3950.InitResponse)
	switch {
	case !ok:
		return fetch.Protocol.Errorf("no answer to Init where one is due")
	case !answer.Accepted:
		return fetch.Denied.Errorf("server refuses Init")
	}
	if s.size = size; answer.Maximum.Set {
		s.size = min(size, answer.Maximum.Value)
	}
	return nil
}

// errTooLarge is the empty message of a server whose answer does not fit, or
// that did not understand.
var errTooLarge = fetch.Protocol.Errorf("server could not encode its answer")

// ask sends p and reads the head of the answer, the whole of which has its time
// from here.
func (s *session) ask(p z3950.PDU) error {
	if s.in.Buffered() > 0 {
		s.Break()
		return fetch.Protocol.Errorf("an answer to nothing that was asked")
	}
	s.rested = false
	s.out = z3950.AppendMessage(s.out[:0], z3950.Header{}, p)
	s.SetReplyTimeout(replyTime)
	if err := s.Send(s.out, s.out); err != nil {
		s.Break()
		return wireFault(err)
	}
	s.Trace().Reached(fetch.RequestSent, s.NetConn)
	h, err := s.in.Next()
	if err != nil {
		s.Break()
		return wireFault(err)
	}
	s.MarkAnswered()
	s.length = h.Length
	s.Trace().Reached(fetch.FirstByte, s.NetConn)
	switch {
	case h.Type != 'z':
		return fetch.Protocol.Errorf("message of type %q for an answer", h.Type)
	case h.Length == 0:
		s.rested = true
		return errTooLarge
	}
	return nil
}

// search asks p and reads the answer up to its records.
func (s *session) search(p *z3950.Search) error {
	if err := s.ask(p); err != nil {
		return err
	}
	_, err := s.in.Response()
	return wireFault(err)
}

// record reads the next record. It is io.EOF at the end of the answer.
func (s *session) record() (z3950.Record, error) {
	r, err := s.in.Record()
	if err == io.EOF {
		s.rested = true
		return r, io.EOF
	}
	return r, wireFault(err)
}

// errNoAnswer means that the server closed the connection instead of answering.
// freeWAIS crashes on a retrieval from a database that does not exist.
var errNoAnswer = fetch.Connect.Errorf("server closed the connection instead of answering; some do so where there is no such database")

// wireFault classes an error of the wire.
func wireFault(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, z3950.ErrMalformed):
		return fetch.Protocol.With(err)
	case err == io.EOF:
		return errNoAnswer
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fetch.Truncated.Errorf("server closed the connection within an answer: %w", err)
	}
	return err
}
