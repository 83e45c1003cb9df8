package ftp

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"net"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
	"github.com/anyurl/fetch/internal/sessions"
)

// waitTime limits the wait for the next reply after "120 ready in nnn minutes".
const waitTime = 2 * time.Minute

// waitForTurn is how long a request waits for a session of another one. Many
// servers accept a few sessions of one address and refuse all others.
const waitForTurn = time.Minute

// A session is a control connection on which somebody is logged in, and what
// is known of its server. It belongs to one request at a time.
type session struct {
	*sessions.Text
	host string // of the server, for TLS
	key  string // under which it waits in the pool
	got  []byte // read, and not yet heard by the trace

	data     *tls.Config // of data connections; nil: in clear
	features features    // from FEAT
	home     string      // the directory of the login by PWD; "": unknown
	proven   bool        // CWD home has led back
	dirs     []string    // arguments of the CWDs since home
	kind     string      // TYPE; "": not set yet
	ways     ways        // to open data connections that are left to try
	opened   int         // data connections by the first of them, since one was asked for in vain
	ahead    bool        // the next one was asked for, and the reply is the next that comes
	asked    time.Time   // when
	early    *line.Reply // that reply, read before the next request; nil: not yet
	noREST   bool        // REST was refused
	telnet   bool        // a byte 255 is sent twice
	eager    bool        // the server takes commands before it has answered the last

	lost bool // dirs does not tell where we are
}

func newSession(conn net.Conn, host string, trace *fetch.Trace) *session {
	s := &session{host: host, telnet: true}
	s.Text = sessions.NewText(sessions.NewConn(conn, trace, "QUIT\r\n"), s)
	return s
}

// Read reads the connection for s.Lines.
func (s *session) Read(p []byte) (int, error) {
	n, err := s.Stream.Read(p)
	if t := s.Trace(); t != nil && t.Received != nil {
		s.got = append(s.got, p[:n]...)
	}
	return n, err
}

// listen has the trace hear what was read, but for the last bytes of it: they
// belong to a reply that is not asked for yet.
func (s *session) listen(but int) {
	n := max(len(s.got)-but, 0)
	s.ReportRead(s.got[:n])
	s.got = append(s.got[:0], s.got[n:]...)
}

// tell has a command sent with or before the next reply that is read. An
// argument "" keeps its space: the "CWD " of RFC 1738 3.2.2.
func (s *session) tell(verb string, args ...string) error {
	words := append([]string{verb}, args...)
	if s.telnet {
		for i, w := range words {
			words[i] = strings.ReplaceAll(w, "\xff", "\xff\xff") // IAC: RFC 854
		}
	}
	if secret(verb) {
		return s.AddSecretCommand(words...)
	}
	return s.AddCommand(words...)
}

// secret reports whether the argument of a command is for the server alone.
func secret(verb string) bool { return verb == "PASS" || verb == "ACCT" }

// reply sends what was told and reads one reply, for at most limit.
func (s *session) reply(limit time.Duration) (line.Reply, error) {
	err := s.Flush()
	if err == nil {
		s.SetReplyTimeout(limit)
		var r line.Reply
		if r, err = s.read(); err == nil {
			s.listen(s.Lines.Buffered())
			return r, s.judge(r)
		}
	}
	s.listen(0)
	s.Break()
	return line.Reply{}, controlFault(err)
}

// read reads one reply, or returns the one that quiet has read.
func (s *session) read() (line.Reply, error) {
	if s.early == nil {
		return s.Lines.ReadReply()
	}
	r := *s.early
	s.early = nil
	return r, nil
}

// judge refuses what no reply may be.
func (s *session) judge(r line.Reply) error {
	for _, text := range r.Lines {
		if strings.IndexByte(text, 0) >= 0 {
			s.Break()
			return fetch.Protocol.Errorf("NUL in a reply")
		}
	}
	if r.Code == 421 {
		s.Break()
		return nil
	}
	if s.IsReused() && !opens(r.Code) {
		s.Break()
		return fetch.Protocol.Errorf("late reply: %s", sentence(r))
	}
	if !s.ahead {
		s.MarkAnswered()
	}
	s.ahead = false
	return nil
}

// opens reports whether the first reply of a request may have this code, for
// all commands that begin one. Another is late: it belongs to the request
// before.
func opens(code int) bool {
	switch code {
	case 200, 202, 213, 227, 229, 250:
		return true
	}
	return code >= 400
}

// ask sends one command and reads its reply.
func (s *session) ask(verb string, args ...string) (line.Reply, error) {
	if err := s.tell(verb, args...); err != nil {
		return line.Reply{}, err
	}
	r, err := s.reply(sessions.ReplyTimeout)
	if err == nil {
		err = s.inStep()
	}
	return r, err
}

// exchange sends commands and reads a reply for each. Where the server takes
// them together, they go out together.
func (s *session) exchange(commands ...[]string) ([]line.Reply, error) {
	replies := make([]line.Reply, len(commands))
	next := s.next(s.eager, commands)
	for i := range replies {
		var err error
		if replies[i], err = next(); err == nil && (!s.eager || i == len(replies)-1) {
			err = s.inStep()
		}
		if err == nil && s.IsBroken() {
			err = refused(commands[i][0], replies[i])
		}
		if err != nil {
			return nil, err
		}
	}
	return replies, nil
}

// next returns a function that brings the replies to commands in turn, which
// are all sent before the first reply or each before its own.
func (s *session) next(atOnce bool, commands [][]string) func() (line.Reply, error) {
	var failed error
	if atOnce {
		for _, c := range commands {
			failed = cmp.Or(failed, s.tell(c[0], c[1:]...))
		}
	}
	return func() (line.Reply, error) {
		if !atOnce {
			failed = s.tell(commands[0][0], commands[0][1:]...)
			commands = commands[1:]
		}
		if failed != nil {
			s.Discard()
			return line.Reply{}, failed
		}
		return s.reply(sessions.ReplyTimeout)
	}
}

// inStep makes sure that nothing came but what was asked for.
func (s *session) inStep() error {
	if s.Lines.Buffered() > 0 && !s.ahead {
		s.Break()
		return fetch.Protocol.Errorf("more replies than commands")
	}
	return nil
}

// quiet reports whether nothing arrived while the session waited, other than
// the reply to the command that was sent ahead. Replies that arrive before a
// command are not the answer to it.
func (s *session) quiet() bool {
	if !s.ahead {
		return s.Lines.Buffered() == 0 && fetch.IsQuiet(s.Stream)
	}
	if s.Lines.Buffered() == 0 {
		return true
	}
	s.SetReplyTimeout(sessions.ReplyTimeout)
	r, err := s.Lines.ReadReply()
	s.early = &r
	return err == nil && s.Lines.Buffered() == 0 && fetch.IsQuiet(s.Stream)
}

// features are the lines of FEAT by their first word, in upper case (RFC 2389
// 3.2).
type features map[string]string

func (f features) has(name string) bool { _, ok := f[name]; return ok }

func parseFeatures(r line.Reply) features {
	f := features{}
	if r.Code != 211 || len(r.Lines) < 3 {
		return f
	}
	for _, text := range r.Lines[1 : len(r.Lines)-1] {
		name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
		f[strings.ToUpper(name)] = rest
	}
	return f
}

// parseQuoted reads the directory name of a 257 reply: between quotes, doubled
// where they belong to the name (RFC 959 appendix II).
func parseQuoted(text string) (string, bool) {
	_, rest, ok := strings.Cut(text, `"`)
	if !ok {
		return "", false
	}
	var name bytes.Buffer
	for {
		part, after, ok := strings.Cut(rest, `"`)
		if !ok {
			return "", false
		}
		name.WriteString(part)
		if !strings.HasPrefix(after, `"`) {
			return name.String(), true
		}
		name.WriteByte('"')
		rest = after[1:]
	}
}
