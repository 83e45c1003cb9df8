package wais

import (
	"io"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/z3950"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A session is a connection to a WAIS server. It sends the next request only
// after it has read the complete response to the previous one.
type session struct {
	*sessions.Messages
	in   *z3950.Reader // reader of Messages
	size uint32        // negotiated maximum response size in bytes
	out  []byte

	length int  // length of the last response
	rested bool // the last response was read completely
}

func newSession(c *sessions.Conn) *session {
	m := sessions.NewMessages(c, 32<<10, replyTime, wireFault)
	return &session{Messages: m, in: z3950.NewReader(m.In)}
}

// Release reports whether the last response was read completely, so that the
// session can be reused.
func (s *session) Release() bool { return s.Conn.Release() && s.rested }

const (
	usualSize  = 100_000 // response size; the maximum of freeWAIS
	maxSize    = 8 << 20 // maximum response size to request
	resultSize = 512     // generous estimate for one result
	replyTime  = 2 * time.Minute
)

// answerSize returns the message size in bytes that a number of search results
// needs. Servers drop results that do not fit.
func answerSize(results int) uint32 {
	return uint32(max(usualSize, min(int64(results)*resultSize, maxSize)))
}

// init sends an Init message, which negotiates the maximum message size.
func (s *session) init(size uint32) error {
	if err := s.send(z3950.NewInit("fetch", size)); err != nil {
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
		return fetch.Protocol.Errorf("server did not reply to Init")
	case !answer.Accepted:
		return fetch.Denied.Errorf("server rejected Init")
	}
	if s.size = size; answer.Maximum.Set {
		s.size = min(size, answer.Maximum.Value)
	}
	return nil
}

// errTooLarge is the error for an empty message. Servers send an empty message
// if the response does not fit into the negotiated size.
var errTooLarge = fetch.Protocol.Errorf("server could not encode its response")

// send sends a message and reads the header of the response. The timeout for
// the complete response starts here.
func (s *session) send(p z3950.PDU) error {
	s.rested = false
	s.out = z3950.AppendMessage(s.out[:0], z3950.Header{}, p)
	if err := s.SendAlone(s.out, s.out); err != nil {
		return err
	}
	var h z3950.Header
	if err := s.Receive(func() (err error) { h, err = s.in.Next(); return err }); err != nil {
		return err
	}
	s.length = h.Length
	switch {
	case h.Type != 'z':
		return fetch.Protocol.Errorf("server sent a message of type %q", h.Type)
	case h.Length == 0:
		s.rested = true
		return errTooLarge
	}
	return nil
}

// search sends a search and reads the response up to its first record.
func (s *session) search(p *z3950.Search) error {
	if err := s.send(p); err != nil {
		return err
	}
	_, err := s.in.Response()
	return wireFault(err)
}

// record returns the next record. At the end of the response it returns io.EOF.
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
var errNoAnswer = fetch.Connect.Errorf("server closed the connection without a response; some servers do so if the database does not exist")

// wireFault classifies an error of the connection or of a malformed message.
func wireFault(err error) error {
	if err == io.EOF {
		return errNoAnswer
	}
	return sessions.MessageFault(err, z3950.ErrMalformed)
}
