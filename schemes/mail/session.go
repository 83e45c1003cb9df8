package mail

import (
	"bytes"
	"net"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
	"github.com/anyurl/fetch/internal/sessions"
	"github.com/emersion/go-imap/v2/imapclient"
)

// A place is a server, and how a connection to it begins.
type endpoint struct {
	fetch.Target
	implicitTLS bool // TLS from the first byte
}

// A session is a conversation with a server, which belongs to one request at
// a time. Up to the login we lead it ourselves, line by line: the library
// cannot abandon a login, knows few ways to make one, and asks for
// capabilities when it likes. Then client takes over, behind a guard.
type session struct {
	*sessions.Text
	endpoint endpoint
	caps     map[string]bool
	tags     int // commands sent before the login

	client  *imapclient.Client
	guard   *guard
	mailbox *mailbox // that is selected; nil: none
}

func newSession(conn net.Conn, endpoint endpoint, trace *fetch.Trace) *session {
	return &session{endpoint: endpoint, Text: sessions.NewText(sessions.NewConn(conn, trace, "Z LOGOUT\r\n"), nil)}
}

// waiting begins the time that an answer may take.
func (s *session) awaitReply() { s.SetReplyTimeout(sessions.ReplyTimeout) }

// An answer is one line of the server that says how things stand.
type answer struct {
	status string // OK, NO, BAD, PREAUTH or BYE; "+": go on
	code   string // in brackets, in upper case: "NONEXISTENT"
	text   string // what follows; of "+" all
	final  bool   // of a login: the server has checked the password
}

// ask sends a command and reads up to the line that answers it. The trace does
// not hear secret, the last word of it or "".
func (s *session) command(secret string, words ...string) (answer, error) {
	s.tags++
	out, err := line.Append(nil, maxCommand, append([]string{s.lastTag()}, words...)...)
	if err != nil {
		return answer{}, fetch.Usage.Errorf("%s: %w", words[0], err)
	}
	return s.roundTrip(out, secret)
}

// tag is that of the last command.
func (s *session) lastTag() string { return "A" + strconv.Itoa(s.tags) }

// maxCommand bounds what is sent in one line: RFC 7162 4 asks servers for
// 8192 bytes.
const maxCommand = 8 << 10

// tell sends out, a line, and reads up to the answer of the last command or
// its wish for more.
func (s *session) roundTrip(out []byte, secret string) (answer, error) {
	heard := out
	if secret != "" {
		heard = append(bytes.Clone(out[:bytes.LastIndex(out, []byte(secret))]), "***\r\n"...)
	}
	if err := s.Send(out, heard); err != nil {
		s.Break()
		return answer{}, err
	}
	s.awaitReply()
	for range line.MaxReplyLines {
		name, a, err := s.readAnswer()
		switch {
		case err != nil:
			return answer{}, err
		case name == s.lastTag() || name == "+":
			return a, nil
		case a.status == "BYE":
			s.Break()
			return answer{}, statusError("login", fetch.TryLater, a)
		}
	}
	s.Break()
	return answer{}, fetch.Protocol.Errorf("more than %d lines before an answer", line.MaxReplyLines)
}

// answer reads one line. Its name is "*", "+" or a tag. Capabilities are
// noted wherever they stand.
func (s *session) readAnswer() (name string, a answer, err error) {
	text, _, err := s.Lines.ReadLine(maxReply)
	if err != nil {
		s.Break()
		return "", a, lineFault(err)
	}
	name, rest, _ := strings.Cut(string(text), " ")
	if name == "+" {
		return name, answer{status: "+", text: rest}, nil
	}
	a.status, a.text, _ = strings.Cut(rest, " ")
	a.status = strings.ToUpper(a.status)
	if inner, ok := strings.CutPrefix(a.text, "["); ok && a.status != "CAPABILITY" {
		if code, rest, ok := strings.Cut(inner, "]"); ok {
			a.code, a.text = code, strings.TrimPrefix(rest, " ")
		}
	}
	word, list, _ := strings.Cut(a.code, " ")
	if a.code = strings.ToUpper(word); a.status == "CAPABILITY" {
		a.code, list = a.status, a.text
	}
	if a.code == "CAPABILITY" {
		s.caps = map[string]bool{}
		for word := range strings.FieldsSeq(strings.ToUpper(list)) {
			s.caps[word] = true
		}
	}
	return name, a, nil
}

// maxReply bounds a line before the login.
const maxReply = 16 << 10
