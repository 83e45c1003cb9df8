package nntp

import (
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A session is a connection to a news server. It serves one request at a time.
type session struct {
	*sessions.Text
	endpoint endpoint

	caps       capabilities
	compressed bool
	loggedIn   bool
	fields     []string // fields of overview lines, or nil if not yet requested

	upgradeFailed bool // a login or STARTTLS failed, so no other request may use the session
}

func newSession(c *sessions.Conn, endpoint endpoint) *session {
	s := &session{endpoint: endpoint, Text: sessions.NewText(c, nil)}
	s.RequireQuiet(s.Lines.Buffered)
	return s
}

// Release implements [sessions.Session].
func (s *session) Release() bool {
	inSync := s.inSync()
	return s.Conn.Release() && inSync && !s.upgradeFailed
}

// readReply sends the queued commands and reads the first line of the next
// response.
func (s *session) readReply() (r line.Reply, err error) {
	err = s.AwaitReply(func() error { r, err = s.Lines.ReadStatus(); return err })
	switch {
	case err != nil:
		return line.Reply{}, err
	case r.Code == codeUnavailable:
		s.Break()
	default:
		s.MarkAnswered()
	}
	return r, nil
}

// codeUnavailable is the status code of a server that ends the session (RFC
// 3977 3.2.1).
const codeUnavailable = 400

// command sends a command and reads the first line of the response.
func (s *session) command(words ...string) (line.Reply, error) {
	if err := s.AddCommand(words...); err != nil {
		return line.Reply{}, err
	}
	return s.readReply()
}

// dataBlock returns a reader of the remaining lines of a multi-line response.
// It removes the read deadline, because the Client applies a timeout to
// response bodies.
func (s *session) dataBlock() *line.Block {
	s.SetReplyTimeout(0)
	return s.Lines.Block(0)
}
