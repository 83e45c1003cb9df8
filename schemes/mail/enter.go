package mail

import (
	"context"
	"crypto/tls"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// open makes a session for who.
func (d *driver) open(ctx context.Context, at place, who login, trace *fetch.Trace) (*session, error) {
	conn, err := d.env.Net.DialContext(ctx, "tcp", at.Address())
	if err != nil {
		return nil, err
	}
	s := newSession(conn, at, trace)
	defer context.AfterFunc(ctx, s.abort)()
	if err := d.enter(ctx, s, who); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if ctx.Err() != nil {
			s.broken.Store(true)
		}
		s.listen(nil)
		s.Close()
		return nil, err
	}
	s.handOver()
	return s, nil
}

// enter leads the conversation up to the login.
func (d *driver) enter(ctx context.Context, s *session, who login) error {
	if s.place.implicit {
		if err := s.encrypt(ctx, d.env.TLS); err != nil {
			return err
		}
	}
	known, err := s.greet()
	if err != nil {
		return err
	}
	if s.secure == nil && d.wantsTLS(s, known) {
		if known {
			return fetch.TLS.Errorf("server lets us in before it would encrypt (PREAUTH)")
		}
		if err := s.startTLS(ctx, d.env.TLS); err != nil {
			return err
		}
	}
	if known {
		if who.auth != nil {
			s.trace.Notef("server lets us in without a login")
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
		s.broken.Store(true)
		return false, refused("greeting", fetch.TryLater, a)
	case name != "*" || a.status != "OK" && a.status != "PREAUTH":
		s.broken.Store(true)
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
	if err := s.encrypt(ctx, base); err != nil {
		return err
	}
	s.caps = nil
	return s.askCapabilities()
}

// encrypt makes the connection one of TLS. Bytes that came in clear are not to
// be believed behind it.
func (s *session) encrypt(ctx context.Context, base *tls.Config) error {
	if s.lines.Buffered() > 0 {
		s.broken.Store(true)
		return fetch.TLS.Errorf("text in clear after STARTTLS")
	}
	s.door.SetDeadline(time.Time{})
	conn, err := fetch.Handshake(ctx, s.door, base, s.place.Host, s.trace)
	if err != nil {
		s.broken.Store(true)
		return err
	}
	state := conn.ConnectionState()
	s.wire, s.secure = conn, &state
	return nil
}
