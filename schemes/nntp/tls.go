package nntp

import (
	"context"
	"crypto/tls"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// encrypt makes the connection one of TLS. Bytes that came in clear are not to
// be believed behind it.
func (s *session) encrypt(ctx context.Context, base *tls.Config) error {
	if s.lines.Buffered() > 0 {
		s.broken = true
		return fetch.TLS.Errorf("text in clear after STARTTLS")
	}
	s.door.SetDeadline(time.Time{})
	conn, err := fetch.Handshake(ctx, s.door, base, s.place.Host, s.trace)
	if err != nil {
		s.broken = true
		return err
	}
	state := conn.ConnectionState()
	s.wire, s.secure = conn, &state
	return nil
}

// startTLS asks for encryption (RFC 4642 2.2). What the server announced
// before is forgotten.
func (s *session) startTLS(ctx context.Context, base *tls.Config) error {
	r, err := s.ask("STARTTLS")
	if err != nil {
		return err
	}
	if r.Code != 382 {
		return &fetch.Error{Code: r.Code, Err: fetch.TLS.With(refused("STARTTLS", r))}
	}
	if err := s.encrypt(ctx, base); err != nil {
		return err
	}
	return s.askCapabilities()
}
