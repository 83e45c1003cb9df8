package ftp

import (
	"context"
	"crypto/tls"

	"github.com/anyurl/fetch/fetch"
)

// tlsConfig is the configuration of one control connection and the data
// connections beside it. They share a cache of their own, for servers such as
// vsftpd take a data connection only if it resumes the session of the control
// connection, and no other.
func (d *driver) tlsConfig() *tls.Config {
	config := d.env.TLS.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	config.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	return config
}

// encrypt puts TLS over the control connection. What was read ahead of it
// came in clear and must not be believed.
func (s *session) encrypt(ctx context.Context, config *tls.Config) error {
	if s.lines.Buffered() > 0 {
		s.broken = true
		return fetch.TLS.Errorf("text in clear after AUTH TLS")
	}
	conn, err := fetch.Handshake(ctx, s.door, config, s.host, s.trace)
	if err != nil {
		s.broken = true
		return err
	}
	s.wire = conn
	state := conn.ConnectionState()
	s.secure = &state
	return nil
}

// startTLS asks for encryption (RFC 4217 4). It never goes on in clear where
// the server agreed and something failed then.
func (d *driver) startTLS(ctx context.Context, s *session, config *tls.Config) (bool, error) {
	r, err := s.ask("AUTH", "TLS")
	if err != nil {
		return false, err
	}
	if r.Code == 234 || r.Code == 334 {
		return true, s.encrypt(ctx, config)
	}
	if s.broken {
		return false, refused("AUTH TLS", r)
	}
	if d.TLS == fetch.TLSRequired {
		return false, &fetch.Error{Code: r.Code, Err: fetch.TLS.Errorf("AUTH TLS: %s", sentence(r))}
	}
	s.trace.Notef("not encrypted: %s", sentence(r))
	return false, nil
}

// wantsTLS reports whether ftp sends AUTH TLS.
func (o *Options) wantsTLS() bool { return o.TLS == fetch.TLSWanted || o.TLS == fetch.TLSRequired }

func (o *Options) protection() string {
	if o.ClearData {
		return "C"
	}
	return "P"
}

// protect settles whether data connections are encrypted too (RFC 4217 9).
func (d *driver) protect(s *session, config *tls.Config) error {
	replies, err := s.exchange([]string{"PBSZ", "0"}, []string{"PROT", d.protection()})
	if err != nil || d.ClearData {
		return err
	}
	prot := replies[1]
	if prot.Code/100 == 2 {
		s.data = config
		return nil
	}
	if d.implicit || d.TLS == fetch.TLSRequired {
		return &fetch.Error{Code: prot.Code, Err: fetch.TLS.Errorf("PROT P: %s", sentence(prot))}
	}
	s.trace.Notef("data not encrypted: %s", sentence(prot))
	return nil
}
