package pop

import (
	"context"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A session is a connection to a POP3 server. One request uses it at a time.
type session struct {
	*sessions.Text
	target    fetch.Target
	timestamp string              // timestamp in the greeting, for APOP; or ""
	caps      map[string][]string // capabilities with their arguments (RFC 2449)
}

func newSession(c *sessions.Conn, t fetch.Target) *session {
	s := &session{target: t, Text: sessions.NewText(c, nil)}
	s.RequireQuiet(s.Lines.Buffered)
	return s
}

// A reply is a status line of the server.
type reply struct {
	ok   bool
	more bool   // the server expects the response to a challenge
	code string // response code (RFC 2449 8), such as "IN-USE", or ""
	text string
}

// readReply sends the queued commands and reads a status line.
func (s *session) readReply() (r reply, err error) {
	err = s.AwaitReply(func() error {
		text, _, err := s.Lines.ReadLine(line.MaxReplyLine)
		if err == nil {
			r, err = parseReply(string(text))
		}
		return err
	})
	if err == nil {
		s.MarkAnswered()
	}
	return r, err
}

// parseReply parses a status line.
func parseReply(text string) (r reply, err error) {
	status, rest, _ := strings.Cut(text, " ")
	switch strings.ToUpper(status) {
	case "+OK":
		r.ok = true
	case "-ERR":
	case "+":
		r.more = true
	default:
		return r, fetch.Protocol.Errorf("not a POP3 reply: %s", tty.Escape(text[:min(len(text), 80)]))
	}
	if strings.HasPrefix(rest, "[") && !r.ok && !r.more {
		if code, _, ok := strings.Cut(rest[1:], "]"); ok {
			r.code = strings.ToUpper(code)
		}
	}
	r.text = strings.TrimSpace(rest)
	return r, nil
}

// command sends a command and reads the status line of the reply.
func (s *session) command(words ...string) (reply, error) {
	if err := s.AddCommand(words...); err != nil {
		return reply{}, err
	}
	return s.readReply()
}

// fail returns the error for a reply that rejects a command. The class is
// fallback, unless the response code determines it.
func (r reply) fail(fallback fetch.Fault) error {
	fault := fallback
	switch {
	case r.code == "IN-USE", r.code == "LOGIN-DELAY", r.code == "SYS/TEMP":
		fault = fetch.TryLater
	case r.code == "SYS/PERM":
		fault = fetch.Denied
	case r.code == "AUTH":
		fault = fetch.Auth
	}
	return fault.Errorf("server replied: -ERR %s", tty.Escape(r.text[:min(len(r.text), 300)]))
}

// readGreeting reads the first line of the server.
func (s *session) readGreeting() error {
	r, err := s.readReply()
	switch {
	case err != nil:
		return err
	case !r.ok:
		s.Break()
		return r.fail(fetch.TryLater)
	}
	if i := strings.IndexByte(r.text, '<'); i >= 0 {
		if stamp, _, ok := strings.Cut(r.text[i:], ">"); ok && strings.Contains(stamp, "@") {
			s.timestamp = stamp + ">"
		}
	}
	return nil
}

// requestCapabilities sends CAPA (RFC 2449 5). Old servers reject it.
func (s *session) requestCapabilities() error {
	s.caps = map[string][]string{}
	r, err := s.command("CAPA")
	if err != nil || !r.ok {
		return err
	}
	return s.ReadShortBlock(func(text string) {
		if words := strings.Fields(strings.ToUpper(text)); len(words) > 0 {
			s.caps[words[0]] = words[1:]
		}
	})
}

// startTLS sends STLS (RFC 2595 4) and upgrades the connection. It discards the
// capabilities that the server sent in plaintext.
func (d *driver) startTLS(ctx context.Context, s *session) error {
	_, offered := s.caps["STLS"]
	if !sessions.StartsTLS(d.TLS, scheme.TLSWanted, offered) {
		return nil
	}
	r, err := s.command("STLS")
	if err != nil {
		return err
	}
	if !r.ok {
		return fetch.TLS.With(r.fail(fetch.TLS))
	}
	if err := s.Encrypt(ctx, d.env.TLS, s.target.Host); err != nil {
		return err
	}
	return s.requestCapabilities()
}
