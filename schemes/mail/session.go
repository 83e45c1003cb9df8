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

// An endpoint is the address of a server and the TLS mode of its port.
type endpoint struct {
	fetch.Target
	implicitTLS bool // TLS starts with the first byte
}

// A session is a connection to a server. One request uses it at a time. Until
// the login is complete, the session itself reads and writes lines. imapclient
// cannot cancel a login, supports few mechanisms, and requests capabilities on
// its own. After the login, client uses the connection through guard.
type session struct {
	*sessions.Text
	endpoint endpoint
	caps     map[string]bool
	tags     int // number of commands sent before the login was complete

	client  *imapclient.Client
	guard   *guard
	mailbox *mailbox // the selected mailbox, or nil
}

func newSession(conn net.Conn, endpoint endpoint, trace *fetch.Trace) *session {
	return &session{endpoint: endpoint, Text: sessions.NewText(sessions.NewConn(conn, trace, "Z LOGOUT\r\n"), nil)}
}

// awaitReply starts the timeout of the next reply.
func (s *session) awaitReply() { s.SetReplyTimeout(sessions.ReplyTimeout) }

// An answer is a status response or a continuation request.
type answer struct {
	status string // OK, NO, BAD, PREAUTH or BYE, or "+" for a continuation request
	code   string // response code in upper case without brackets: "NONEXISTENT"
	text   string // text after the code, or all text after "+"
	final  bool   // the server has verified the password, so no other mechanism can help
}

// command sends a command and returns its answer. If secret is not empty, it
// must be the last word, and the trace shows it masked.
func (s *session) command(secret string, words ...string) (answer, error) {
	s.tags++
	out, err := line.Append(nil, maxCommand, append([]string{s.lastTag()}, words...)...)
	if err != nil {
		return answer{}, fetch.Usage.Errorf("%s: %w", words[0], err)
	}
	return s.roundTrip(out, secret)
}

// lastTag returns the tag of the last command.
func (s *session) lastTag() string { return "A" + strconv.Itoa(s.tags) }

// maxCommand is the maximum length of a command line. RFC 7162 4 recommends
// that servers accept 8192 bytes.
const maxCommand = 8 << 10

// roundTrip sends the line out. It returns the answer to the last command or
// the next continuation request.
func (s *session) roundTrip(out []byte, secret string) (answer, error) {
	shown := out
	if secret != "" {
		shown = append(bytes.Clone(out[:bytes.LastIndex(out, []byte(secret))]), "***\r\n"...)
	}
	if err := s.Send(out, shown); err != nil {
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
	return answer{}, fetch.Protocol.Errorf("more than %d lines before a tagged response", line.MaxReplyLines)
}

// readAnswer reads one line. The name is "*", "+" or a tag. Capabilities in the
// line replace the recorded capabilities.
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

// maxReply is the maximum length of a response line before the login is
// complete, in bytes.
const maxReply = 16 << 10
