package nntp

import (
	"crypto/tls"
	"io"
	"net"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
)

const (
	idleTime  = 45 * time.Second // in the pool
	replyTime = 60 * time.Second // for a whole reply, however slowly it comes
)

// A session is a conversation with a reader's server. It belongs to one
// request at a time.
type session struct {
	place place
	door  net.Conn     // the door's connection, to close
	wire  net.Conn     // door, or what stands above it: TLS, DEFLATE
	lines *line.Reader // reads wire
	trace *fetch.Trace // of the request that has the session

	out, heard []byte // commands not yet written, and as the trace may hear them

	caps       capabilities
	secure     *tls.ConnectionState // nil: in clear
	compressed bool
	loggedIn   bool
	fields     []string // of overview lines; nil: not asked yet

	reused bool // from the pool, and nothing answered yet
	broken bool // out of step, or dead: not to be used again
}

func newSession(conn net.Conn, at place, trace *fetch.Trace) *session {
	s := &session{place: at, door: conn, wire: conn, trace: trace}
	s.lines = line.NewReader(s)
	return s
}

// Read reads the wire for s.lines.
func (s *session) Read(p []byte) (int, error) {
	n, err := s.wire.Read(p)
	if t := s.trace; n > 0 && t != nil && t.Got != nil {
		t.Got(p[:n])
	}
	return n, err
}

// Close ends the session. It says goodbye, but does not wait for an answer.
func (s *session) Close() error {
	if !s.broken {
		s.door.SetWriteDeadline(time.Now().Add(time.Second))
		io.WriteString(s.wire, "QUIT\r\n")
	}
	return s.door.Close()
}

// abort ends the session at once, from any goroutine.
func (s *session) abort() { s.door.Close() }

// tell has a command sent before the next reply is read.
func (s *session) tell(words ...string) error {
	out, err := line.Append(s.out, line.MaxCommand, words...)
	if err != nil {
		return fetch.BadURL.Errorf("%s: %w", words[0], err)
	}
	if t := s.trace; t != nil && t.Sent != nil {
		s.heard = append(s.heard, out[len(s.out):]...)
	}
	s.out = out
	return nil
}

// tellSecret is tell for a command whose last word is for the server alone.
func (s *session) tellSecret(words ...string) error {
	heard := len(s.heard)
	if err := s.tell(words...); err != nil {
		return fetch.Usage.Errorf("credential cannot be sent: %w", err)
	}
	if len(s.heard) > heard {
		words = append(words[:len(words)-1:len(words)-1], "***")
		s.heard, _ = line.Append(s.heard[:heard], line.MaxCommand, words...)
	}
	return nil
}

func (s *session) flush() error {
	if len(s.out) == 0 {
		return nil
	}
	if len(s.heard) > 0 {
		s.trace.Sent(s.heard)
	}
	out := s.out
	s.out, s.heard = s.out[:0], s.heard[:0]
	s.door.SetWriteDeadline(time.Now().Add(replyTime))
	_, err := s.wire.Write(out)
	return err
}

// reply sends what was told and reads the first line of one answer.
func (s *session) reply() (line.Reply, error) {
	err := s.flush()
	if err == nil {
		s.door.SetReadDeadline(time.Now().Add(replyTime))
		var r line.Reply
		if r, err = s.lines.ReadStatus(); err == nil {
			s.reused = s.reused && r.Code == codeGone
			s.broken = s.broken || r.Code == codeGone
			return r, nil
		}
	}
	s.broken = true
	return line.Reply{}, replyFault(err)
}

// codeGone: the server ends the session (RFC 3977 3.2.1).
const codeGone = 400

// ask sends one command and reads the first line of its answer.
func (s *session) ask(words ...string) (line.Reply, error) {
	if err := s.tell(words...); err != nil {
		return line.Reply{}, err
	}
	return s.reply()
}

// block is the rest of an answer of many lines. A body may take its time: the
// Client looks after its speed.
func (s *session) block() *line.Block {
	s.door.SetReadDeadline(time.Time{})
	return s.lines.Block(0)
}

// maxList bounds the lines of an answer that is read at once.
const maxList = line.MaxReplyLines

// list reads the rest of an answer of a few lines.
func (s *session) list(each func(text string)) error {
	for n := 0; ; n++ {
		text, _, err := s.lines.ReadLine(line.MaxReplyLine)
		switch {
		case err == nil && n == maxList:
			err = line.ErrTooMany
		case err == nil && string(text) == ".":
			return nil
		case err == nil:
			each(string(text))
			continue
		}
		s.broken = true
		if err == line.ErrTooMany {
			return fetch.Protocol.With(err)
		}
		return replyFault(err)
	}
}
