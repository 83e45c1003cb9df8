package ftp

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"net"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/internal/wire/socket"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// waitTime is the maximum time to wait for the next reply after the greeting
// "120 ready in nnn minutes".
const waitTime = 2 * time.Minute

// A session is a control connection to an FTP server after the login. Only one
// request at a time uses a session.
type session struct {
	*sessions.Text
	host     string // host name of the server, for TLS
	key      string // key in the pool
	untraced []byte // bytes that were read, but not yet reported to the trace

	server serverTraits
	dir    workingDir
	kind   string // current TYPE; "": not set yet

	dataTLS   *tls.Config // TLS configuration of data connections; nil: plaintext
	ways      ways        // commands for data connections that have not failed
	transfers int         // number of data connections opened; discardPort resets it to 1
	port      nextPort    // the data port of the next transfer
}

// serverTraits are the properties of the server that a session has found.
type serverTraits struct {
	features    features // features in the reply to FEAT
	pipelines   bool     // the server accepts several commands at once
	telnet      bool     // the server reads two bytes 0xff as one
	listsAll    listsAll // whether listings are requested with LIST -a
	rejectsREST bool
}

func newSession(conn net.Conn, host string, trace *trace.Trace) *session {
	socket.SetBlockingReads(conn)
	s := &session{host: host, server: serverTraits{telnet: true}}
	s.Text = sessions.NewText(sessions.NewConn(conn, trace, "QUIT\r\n"), s)
	return s
}

// Read reads from the control connection and records the bytes for the trace.
func (s *session) Read(p []byte) (int, error) {
	n, err := s.Stream.Read(p)
	if t := s.Trace(); t != nil && t.Received != nil {
		s.untraced = append(s.untraced, p[:n]...)
	}
	return n, err
}

// traceReceived reports received bytes to the trace, except the last ones. The
// argument but is the number of these bytes, which belong to a later reply.
func (s *session) traceReceived(but int) {
	n := max(len(s.untraced)-but, 0)
	s.ReportRead(s.untraced[:n])
	s.untraced = append(s.untraced[:0], s.untraced[n:]...)
}

// queue adds a command to the next write. It keeps the space before an empty
// argument, as in the "CWD " command of RFC 1738 3.2.2.
func (s *session) queue(verb string, args ...string) error {
	words := append([]string{verb}, args...)
	if s.server.telnet {
		for i, w := range words {
			words[i] = strings.ReplaceAll(w, "\xff", "\xff\xff") // IAC: RFC 854
		}
	}
	if secret(verb) {
		return s.AddSecretCommand(words...)
	}
	return s.AddCommand(words...)
}

// secret reports whether the argument of a command is hidden in traces, as for
// PASS.
func secret(verb string) bool { return verb == "PASS" || verb == "ACCT" }

// reply sends the queued commands and reads one reply. It fails if the reply
// does not arrive within the time limit.
func (s *session) reply(limit time.Duration) (line.Reply, error) {
	err := s.Flush()
	if err == nil {
		s.SetReplyTimeout(limit)
		var r line.Reply
		if r, err = s.port.readReply(s.Lines); err == nil {
			s.traceReceived(s.Lines.Buffered())
			return r, s.check(r)
		}
	}
	s.traceReceived(0)
	s.Break()
	return line.Reply{}, controlFault(err)
}

// check returns an error if a reply contains NUL or is a late reply to an
// earlier request.
func (s *session) check(r line.Reply) error {
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
	if !s.port.requestedEarly() {
		s.MarkAnswered() // otherwise the reply belongs to the command of the last request
	}
	s.port.state = portUnknown
	return nil
}

// opens reports whether a code can be the first reply to a new request. Any
// other code is a late reply to the previous request.
func opens(code int) bool {
	switch code {
	case 200, 202, 213, 227, 229, 250:
		return true
	}
	return code >= 400
}

// command sends one command and reads its reply.
func (s *session) command(verb string, args ...string) (line.Reply, error) {
	if err := s.queue(verb, args...); err != nil {
		return line.Reply{}, err
	}
	r, err := s.reply(sessions.ReplyTimeout)
	if err == nil {
		err = s.inStep()
	}
	return r, err
}

// sendAll sends commands and returns one reply for each command. If the server
// supports it, all commands are sent before the first reply is read.
func (s *session) sendAll(commands ...[]string) ([]line.Reply, error) {
	replies := make([]line.Reply, len(commands))
	next := s.next(s.server.pipelines, commands)
	for i := range replies {
		var err error
		if replies[i], err = next(); err == nil && (!s.server.pipelines || i == len(replies)-1) {
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

// next returns a function that returns the next reply on each call. If atOnce
// is true, all commands are sent before the first reply is read.
func (s *session) next(atOnce bool, commands [][]string) func() (line.Reply, error) {
	var failed error
	if atOnce {
		for _, c := range commands {
			failed = cmp.Or(failed, s.queue(c[0], c[1:]...))
		}
	}
	return func() (line.Reply, error) {
		if !atOnce {
			failed = s.queue(commands[0][0], commands[0][1:]...)
			commands = commands[1:]
		}
		if failed != nil {
			s.Discard()
			return line.Reply{}, failed
		}
		return s.reply(sessions.ReplyTimeout)
	}
}

// inStep returns an error if the server has sent more replies than the session
// has sent commands.
func (s *session) inStep() error {
	if s.Lines.Buffered() > 0 && !s.port.requestedEarly() {
		s.Break()
		return fetch.Protocol.Errorf("more replies than commands")
	}
	return nil
}

// quiet reports whether an idle session has received no unexpected bytes, which
// would be read as the reply to the next command. Only the reply to
// requestPort is expected.
func (s *session) quiet() bool {
	if s.port.requestedEarly() {
		if s.Lines.Buffered() == 0 {
			return true
		}
		s.SetReplyTimeout(sessions.ReplyTimeout)
		if s.port.awaitReply(s.Lines) != nil {
			return false
		}
	}
	return s.Lines.Buffered() == 0 && fetch.IsQuiet(s.Stream)
}

// features maps each feature name in a FEAT reply, in upper case, to the
// remaining text of its line (RFC 2389 3.2).
type features map[string]string

func (f features) has(name string) bool { _, ok := f[name]; return ok }

// listsFacts reports whether the server supports MLSD (RFC 3659 7.8).
func (f features) listsFacts() bool { return f.has("MLST") || f.has("MLSD") }

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

// parseQuoted parses the directory name in quotes in a 257 reply. Two quotes
// represent one quote in the name (RFC 959 appendix II).
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
