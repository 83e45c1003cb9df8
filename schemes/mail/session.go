package mail

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
	"github.com/emersion/go-imap/v2/imapclient"
)

const (
	idleTime  = 45 * time.Second // in the pool
	replyTime = 60 * time.Second // for a whole answer, however slowly it comes
)

// A place is a server, and how a connection to it begins.
type place struct {
	fetch.Target
	implicit bool // TLS from the first byte
}

// A session is a conversation with a server, which belongs to one request at
// a time. Up to the login we lead it ourselves, line by line: the library
// cannot abandon a login, knows few ways to make one, and asks for
// capabilities when it likes. Then client takes over, behind a guard.
type session struct {
	place  place
	door   net.Conn     // the door's connection, to close
	wire   net.Conn     // door, or TLS above it
	lines  *line.Reader // reads wire
	secure *tls.ConnectionState
	caps   map[string]bool
	tags   int // commands sent before the login

	client  *imapclient.Client
	guard   *guard
	mailbox *mailbox // that is selected; nil: none

	mu     sync.Mutex
	trace  *fetch.Trace // of the request that has the session
	reused bool         // from the pool, and nothing answered yet
	broken atomic.Bool  // out of step, or dead: not to be used again
}

func newSession(conn net.Conn, at place, trace *fetch.Trace) *session {
	s := &session{place: at, door: conn, wire: conn, trace: trace}
	s.lines = line.NewReader(s)
	return s
}

// Read reads the wire for s.lines.
func (s *session) Read(p []byte) (int, error) {
	n, err := s.wire.Read(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.trace; n > 0 && t != nil && t.Got != nil {
		t.Got(p[:n])
	}
	return n, err
}

// send writes out, of which the trace hears heard.
func (s *session) send(out, heard []byte) error {
	s.mu.Lock()
	if t := s.trace; t != nil && t.Sent != nil {
		t.Sent(heard)
	}
	s.mu.Unlock()
	s.door.SetWriteDeadline(time.Now().Add(replyTime))
	_, err := s.wire.Write(out)
	return err
}

// listen gives the session's bytes to the trace of another request; nil is
// none. No call of the old one is under way when it returns.
func (s *session) listen(t *fetch.Trace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trace = t
}

// waiting begins the time that an answer may take.
func (s *session) waiting() { s.door.SetReadDeadline(time.Now().Add(replyTime)) }

// streaming ends it: the Client looks after the speed of a body.
func (s *session) streaming() { s.door.SetReadDeadline(time.Time{}) }

// Close ends the session. It says goodbye, but does not wait for an answer.
func (s *session) Close() error {
	if !s.broken.Load() {
		s.door.SetWriteDeadline(time.Now().Add(time.Second))
		io.WriteString(s.wire, "Z LOGOUT\r\n")
	}
	return s.door.Close()
}

// abort ends the session at once, from any goroutine.
func (s *session) abort() { s.door.Close() }

// An answer is one line of the server that says how things stand.
type answer struct {
	status string // OK, NO, BAD, PREAUTH or BYE; "+": go on
	code   string // in brackets, in upper case: "NONEXISTENT"
	text   string // what follows; of "+" all
	final  bool   // of a login: the server has checked the password
}

// ask sends a command and reads up to the line that answers it. The trace does
// not hear secret, the last word of it or "".
func (s *session) ask(secret string, words ...string) (answer, error) {
	s.tags++
	out, err := line.Append(nil, maxCommand, append([]string{s.tag()}, words...)...)
	if err != nil {
		return answer{}, fetch.Usage.Errorf("%s: %w", words[0], err)
	}
	return s.tell(out, secret)
}

// tag is that of the last command.
func (s *session) tag() string { return "A" + strconv.Itoa(s.tags) }

// maxCommand bounds what is sent in one line: RFC 7162 4 asks servers for
// 8192 bytes.
const maxCommand = 8 << 10

// tell sends out, a line, and reads up to the answer of the last command or
// its wish for more.
func (s *session) tell(out []byte, secret string) (answer, error) {
	heard := out
	if secret != "" {
		heard = append(bytes.Clone(out[:bytes.LastIndex(out, []byte(secret))]), "***\r\n"...)
	}
	if err := s.send(out, heard); err != nil {
		s.broken.Store(true)
		return answer{}, err
	}
	s.waiting()
	for range line.MaxReplyLines {
		name, a, err := s.answer()
		switch {
		case err != nil:
			return answer{}, err
		case name == s.tag() || name == "+":
			return a, nil
		case a.status == "BYE":
			s.broken.Store(true)
			return answer{}, refused("login", fetch.TryLater, a)
		}
	}
	s.broken.Store(true)
	return answer{}, fetch.Protocol.Errorf("more than %d lines before an answer", line.MaxReplyLines)
}

// answer reads one line. Its name is "*", "+" or a tag. Capabilities are
// noted wherever they stand.
func (s *session) answer() (name string, a answer, err error) {
	text, _, err := s.lines.ReadLine(maxReply)
	if err != nil {
		s.broken.Store(true)
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
