package mail

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/emersion/go-imap/v2/imapclient"
)

// A session is a connection to an IMAP server that serves one request at a
// time. During the login, the session reads and writes lines itself. After the
// login, package imapclient uses the connection through clientConn.
//
// The session does not use imapclient for the login, because imapclient cannot
// cancel a login and supports few mechanisms. It also sends CAPABILITY commands
// on its own.
type session struct {
	*sessions.Text
	target fetch.Target
	caps   map[string]bool
	tags   int // number of commands sent before the login was complete

	client     *imapclient.Client
	clientConn *clientConn
	mailbox    *mailbox // the selected mailbox, or nil
	validities *validities
}

func (d *driver) newSession(c *sessions.Conn, t fetch.Target) *session {
	return &session{target: t, Text: sessions.NewText(c, nil), validities: &d.validities}
}

// awaitReply starts the timeout for the next reply of the server.
func (s *session) awaitReply() { s.SetReplyTimeout(sessions.ReplyTimeout) }

// An answer is a status response or a continuation request from the server.
type answer struct {
	status string // OK, NO, BAD, PREAUTH or BYE, or "+" for a continuation request
	code   string // response code in upper case without brackets: "NONEXISTENT"
	text   string // text after the code, or all text after "+"
	final  bool   // the server has checked and rejected the password, so no other mechanism can help
}

// command sends a command and returns the server's answer. If the command
// contains a secret, the secret must be the last word. The trace shows "***" in
// place of the secret.
func (s *session) command(secret string, words ...string) (answer, error) {
	s.tags++
	out, err := line.Append(nil, maxCommand, append([]string{s.lastTag()}, words...)...)
	if err != nil {
		return answer{}, fetch.Usage.Errorf("%s: %w", words[0], err)
	}
	return s.roundTrip(out, secret)
}

// lastTag returns the tag of the last command that was sent before the login
// completed.
func (s *session) lastTag() string { return "A" + strconv.Itoa(s.tags) }

// maxCommand is the maximum length of a command line in bytes. RFC 7162 4
// recommends that servers accept 8192 bytes.
const maxCommand = 8 << 10

// roundTrip sends a line and returns the next tagged answer or continuation
// request.
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

// readAnswer reads one response line. The name is "*", "+" or a tag. If the
// line lists capabilities, they replace the recorded capabilities.
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

// maxReply is the maximum length in bytes of a response line during the login.
const maxReply = 16 << 10
