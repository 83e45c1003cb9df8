package nntp

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// shakeTime is how long a TLS handshake may take.
const shakeTime = 10 * time.Second

// encrypt makes the connection one of TLS. Bytes that came in clear are not to
// be believed behind it.
func (s *session) encrypt(ctx context.Context, base *tls.Config) error {
	if s.lines.Buffered() > 0 {
		s.broken = true
		return fetch.TLS.Errorf("text in clear after STARTTLS")
	}
	config := base.Clone()
	if config == nil {
		config = new(tls.Config)
	}
	if config.ServerName == "" {
		config.ServerName = s.place.Host
	}
	ctx, cancel := context.WithTimeout(ctx, shakeTime)
	defer cancel()
	s.door.SetDeadline(time.Time{})
	conn := tls.Client(s.door, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		s.broken = true
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return shakeFault(err).Errorf("tls handshake: %w", err)
	}
	state := conn.ConnectionState()
	s.wire, s.secure = conn, &state
	s.trace.Reached(fetch.Secured, conn)
	return nil
}

// shakeFault is TLS for all that is not the network's: an alert of the peer
// comes as an error of the network. Nothing is lost where a handshake is cut.
func shakeFault(err error) fetch.Fault {
	var op *net.OpError
	fault := fetch.FaultOf(err)
	switch {
	case fault == fetch.Internal, errors.As(err, &op) && op.Op == "remote error":
		return fetch.TLS
	case fault == fetch.Truncated:
		return fetch.Connect
	}
	return fault
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
