package ftp

import (
	"context"
	"crypto/tls"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// tlsConfig returns a TLS configuration for one control connection and its data
// connections. These connections share a session cache, because servers such as
// vsftpd accept a data connection only if it resumes the TLS session of the
// control connection.
func (d *driver) tlsConfig() *tls.Config {
	config := d.env.TLS.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	config.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	return config
}

// startTLS requests encryption with AUTH TLS (RFC 4217 4). If the server agrees
// and the handshake fails, the connection never continues in plaintext.
func (d *driver) startTLS(ctx context.Context, s *session, config *tls.Config) (bool, error) {
	r, err := s.command("AUTH", "TLS")
	if err != nil {
		return false, err
	}
	if r.Code == 234 || r.Code == 334 {
		return true, s.Encrypt(ctx, config, s.host)
	}
	if s.IsBroken() {
		return false, refused("AUTH TLS", r)
	}
	if d.TLS == scheme.TLSRequired {
		return false, &fetch.Error{Code: r.Code, Err: fetch.TLS.Errorf("AUTH TLS: %s", sentence(r))}
	}
	s.Trace().Notef("the connection is not encrypted: %s", sentence(r))
	return false, nil
}

func (o *Options) protection() string {
	if o.ClearData {
		return "C"
	}
	return "P"
}

// protect enables the encryption of data connections (RFC 4217 9).
func (d *driver) protect(s *session, config *tls.Config) error {
	replies, err := s.sendAll([]string{"PBSZ", "0"}, []string{"PROT", d.protection()})
	if err != nil || d.ClearData {
		return err
	}
	prot := replies[1]
	if prot.Code/100 == 2 {
		s.dataTLS = config
		return nil
	}
	if d.implicit || d.TLS == scheme.TLSRequired {
		return &fetch.Error{Code: prot.Code, Err: fetch.TLS.Errorf("PROT P: %s", sentence(prot))}
	}
	s.Trace().Notef("data connections are not encrypted: %s", sentence(prot))
	return nil
}

// wantsTLS reports whether the driver sends AUTH TLS for ftp URLs.
func (o *Options) wantsTLS() bool { return sessions.StartsTLS(o.TLS, scheme.TLSNever, true) }
