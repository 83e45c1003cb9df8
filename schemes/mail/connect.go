package mail

import (
	"context"
	"crypto/tls"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// negotiate reads the server's greeting, starts TLS if required, and
// authenticates.
func (d *driver) negotiate(ctx context.Context, s *session, creds credentials) error {
	authenticated, err := s.readGreeting()
	if err != nil {
		return err
	}
	usual := scheme.TLSWanted
	if authenticated {
		usual = scheme.TLSNever // the server accepts no STARTTLS
	}
	if s.TLS == nil && sessions.StartsTLS(d.TLS, usual, s.caps["STARTTLS"]) {
		if authenticated {
			return fetch.TLS.Errorf("TLS is not possible, because the server greeted with PREAUTH")
		}
		if err := s.startTLS(ctx, d.env.TLS); err != nil {
			return err
		}
	}
	if authenticated {
		if creds.auth != nil {
			s.Trace().Notef("server requires no authentication (PREAUTH)")
		}
		return nil
	}
	return d.login(ctx, s, creds)
}

// readGreeting reads the server's greeting and requests the server's
// capabilities. A PREAUTH greeting means that the client is already
// authenticated. For such a greeting, readGreeting returns true.
func (s *session) readGreeting() (authenticated bool, err error) {
	s.awaitReply()
	name, a, err := s.readAnswer()
	switch {
	case err != nil:
		return false, err
	case name == "*" && a.status == "BYE":
		s.Break()
		return false, statusError("greeting", fetch.TryLater, a)
	case name != "*" || a.status != "OK" && a.status != "PREAUTH":
		s.Break()
		return false, fetch.Protocol.Errorf("greeting is not from an IMAP server")
	}
	return a.status == "PREAUTH", s.requestCapabilities()
}

// requestCapabilities sends the CAPABILITY command, unless the server has
// already sent its capabilities. It ignores an error answer, because some old
// servers do not implement the command.
func (s *session) requestCapabilities() error {
	if s.caps != nil {
		return nil
	}
	_, err := s.command("", "CAPABILITY")
	return err
}

// startTLS sends STARTTLS (RFC 3501 6.2.1) and upgrades the connection to TLS.
// It discards the capabilities that the server sent in plaintext.
func (s *session) startTLS(ctx context.Context, base *tls.Config) error {
	a, err := s.command("", "STARTTLS")
	if err != nil {
		return err
	}
	if a.status != "OK" {
		return fetch.TLS.With(statusError("STARTTLS", fetch.TLS, a))
	}
	if err := s.Encrypt(ctx, base, s.target.Host); err != nil {
		return err
	}
	s.caps = nil
	return s.requestCapabilities()
}
