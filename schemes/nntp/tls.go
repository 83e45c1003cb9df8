package nntp

import (
	"context"
	"crypto/tls"

	"github.com/anyurl/fetch/fetch"
)

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
	if err := s.Encrypt(ctx, base, s.place.Host); err != nil {
		return err
	}
	return s.askCapabilities()
}
