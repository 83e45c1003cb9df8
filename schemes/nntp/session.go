package nntp

import (
	"net"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
	"github.com/anyurl/fetch/internal/sessions"
)

// A session is a conversation with a news server. It belongs to one request at
// a time.
type session struct {
	*sessions.Text
	place place

	caps       capabilities
	compressed bool
	loggedIn   bool
	fields     []string // of overview lines; nil: not asked yet

	unsettled bool // a login or STARTTLS failed: no other request may use it
}

func newSession(conn net.Conn, at place, trace *fetch.Trace) *session {
	return &session{place: at, Text: sessions.NewText(sessions.NewConn(conn, trace, "QUIT\r\n"), nil)}
}

// Claim rejects a session on which anything arrived while it was idle. Bytes
// that arrive before a command are not the answer to it.
func (s *session) Claim(t *fetch.Trace) bool {
	return s.Conn.Claim(t) && s.Lines.Buffered() == 0 && fetch.IsQuiet(s.Stream)
}

// Release implements [sessions.Session].
func (s *session) Release() bool {
	inStep := s.inStep()
	return s.Conn.Release() && inStep && !s.unsettled
}

// reply sends what was told and reads the first line of one answer.
func (s *session) reply() (line.Reply, error) {
	err := s.Flush()
	if err == nil {
		s.SetReplyTimeout(sessions.ReplyTimeout)
		var r line.Reply
		if r, err = s.Lines.ReadStatus(); err == nil {
			if r.Code == codeGone {
				s.Break()
			} else {
				s.MarkAnswered()
			}
			return r, nil
		}
	}
	s.Break()
	return line.Reply{}, replyFault(err)
}

// codeGone: the server ends the session (RFC 3977 3.2.1).
const codeGone = 400

// ask sends one command and reads the first line of its answer.
func (s *session) ask(words ...string) (line.Reply, error) {
	if err := s.AddCommand(words...); err != nil {
		return line.Reply{}, err
	}
	return s.reply()
}

// block is the rest of an answer of many lines. A body may take its time: the
// Client looks after its speed.
func (s *session) block() *line.Block {
	s.SetReplyTimeout(0)
	return s.Lines.Block(0)
}

// maxList bounds the lines of an answer that is read at once.
const maxList = line.MaxReplyLines

// list reads the rest of an answer of a few lines.
func (s *session) list(each func(text string)) error {
	for n := 0; ; n++ {
		text, _, err := s.Lines.ReadLine(line.MaxReplyLine)
		switch {
		case err == nil && n == maxList:
			err = line.ErrTooManyLines
		case err == nil && string(text) == ".":
			return nil
		case err == nil:
			each(string(text))
			continue
		}
		s.Break()
		if err == line.ErrTooManyLines {
			return fetch.Protocol.With(err)
		}
		return replyFault(err)
	}
}
