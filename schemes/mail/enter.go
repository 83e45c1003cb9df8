package mail

import (
	"context"
	"crypto/tls"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/sessions"
)

// open connects to the server of q and logs in.
func (d *driver) open(ctx context.Context, q *task) (*session, error) {
	conn, err := d.env.Net.DialContext(ctx, "tcp", q.at.Address())
	if err != nil {
		return nil, err
	}
	s := newSession(conn, q.at, q.req.Trace)
	return sessions.Start(ctx, s, func() error {
		if err := d.enter(ctx, s, q.who); err != nil {
			return err
		}
		s.handOver()
		return nil
	})
}

// enter leads the conversation up to the login.
func (d *driver) enter(ctx context.Context, s *session, who login) error {
	if s.place.implicit {
		if err := s.Encrypt(ctx, d.env.TLS, s.place.Host); err != nil {
			return err
		}
	}
	known, err := s.greet()
	if err != nil {
		return err
	}
	if s.TLS == nil && d.wantsTLS(s, known) {
		if known {
			return fetch.TLS.Errorf("server lets us in before it would encrypt (PREAUTH)")
		}
		if err := s.startTLS(ctx, d.env.TLS); err != nil {
			return err
		}
	}
	if known {
		if who.auth != nil {
			s.Trace().Notef("server lets us in without a login")
		}
		return nil
	}
	return d.login(ctx, s, who)
}

func (d *driver) wantsTLS(s *session, known bool) bool {
	switch d.TLS {
	case fetch.TLSRequired:
		return true
	case fetch.TLSWanted:
		return s.caps["STARTTLS"]
	case fetch.TLSNever:
		return false
	}
	return s.caps["STARTTLS"] && !known
}

// greet reads the greeting. It reports whether the server knows us already.
func (s *session) greet() (known bool, err error) {
	s.waiting()
	name, a, err := s.answer()
	switch {
	case err != nil:
		return false, err
	case name == "*" && a.status == "BYE":
		s.Break()
		return false, refused("greeting", fetch.TryLater, a)
	case name != "*" || a.status != "OK" && a.status != "PREAUTH":
		s.Break()
		return false, fetch.Protocol.Errorf("greeting is not that of an imap server")
	}
	return a.status == "PREAUTH", s.askCapabilities()
}

// askCapabilities asks what the server can do, unless it has just told. Very
// old servers do not know the question.
func (s *session) askCapabilities() error {
	if s.caps != nil {
		return nil
	}
	_, err := s.ask("", "CAPABILITY")
	return err
}

// startTLS asks for encryption (RFC 3501 6.2.1). What the server announced
// before is forgotten.
func (s *session) startTLS(ctx context.Context, base *tls.Config) error {
	a, err := s.ask("", "STARTTLS")
	if err != nil {
		return err
	}
	if a.status != "OK" {
		return fetch.TLS.With(refused("STARTTLS", fetch.TLS, a))
	}
	if err := s.Encrypt(ctx, base, s.place.Host); err != nil {
		return err
	}
	s.caps = nil
	return s.askCapabilities()
}
