package clientflags

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"os"
	"slices"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
)

// tlsFlags are the flags for the TLS connections of every scheme.
type tlsFlags struct {
	insecure bool
	cacert   string
	Cert     string
	Key      string
	pinned   string
	v12, v13 bool
}

func (f *tlsFlags) register(s *options.Set) {
	p := s.Section("TLS")
	p.BoolVarP(&f.insecure, "insecure", "k", false, "skip certificate verification (insecure)")
	p.StringVar(&f.cacert, "cacert", "", "trust only the CA certificates in `FILE`")
	p.StringVarP(&f.Cert, "cert", "E", "", "use the client certificate in `FILE`")
	p.StringVar(&f.Key, "key", "", "use the private key in `FILE` for the client certificate, or for sftp")
	p.StringVar(&f.pinned, "pinnedpubkey", "", "`HASHES`: require one of these public keys (sha256//BASE64;...)")
	p.BoolVar(&f.v12, "tlsv1.2", false, "use TLS 1.2 or later (default)")
	p.BoolVar(&f.v13, "tlsv1.3", false, "require TLS 1.3 or later")
	p.Lookup("tlsv1.2").Hidden = true
}

// config returns the TLS configuration, or nil for the defaults of crypto/tls.
func (f *tlsFlags) config(ctx context.Context, s *console.Streams) (*tls.Config, error) {
	if *f == (tlsFlags{}) {
		return nil, nil
	}
	c := &tls.Config{InsecureSkipVerify: f.insecure, MinVersion: tls.VersionTLS12}
	if f.v13 {
		c.MinVersion = tls.VersionTLS13
	}
	if f.cacert != "" {
		pem, err := os.ReadFile(f.cacert)
		if err != nil {
			return nil, fetch.Local.With(err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fetch.Usage.Errorf("%s contains no certificate in PEM format", f.cacert)
		}
	}
	if f.Cert != "" {
		key := f.Key
		if key == "" {
			key = f.Cert
		}
		pair, err := loadKeyPair(s, ctx, f.Cert, key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, f.pinKeys(c)
}

// pinKeys makes c reject servers with a public key that is not in
// --pinnedpubkey. The check applies even if certificates are not verified.
func (f *tlsFlags) pinKeys(c *tls.Config) error {
	if f.pinned == "" {
		return nil
	}
	pins := strings.Split(f.pinned, ";")
	for _, pin := range pins {
		digest, ok := strings.CutPrefix(pin, "sha256//")
		if b, err := base64.StdEncoding.DecodeString(digest); !ok || err != nil || len(b) != sha256.Size {
			return fetch.Usage.Errorf("--pinnedpubkey requires sha256// and a digest in base64")
		}
	}
	c.VerifyConnection = func(s tls.ConnectionState) error {
		digest := sha256.Sum256(s.PeerCertificates[0].RawSubjectPublicKeyInfo)
		if slices.Contains(pins, "sha256//"+base64.StdEncoding.EncodeToString(digest[:])) {
			return nil
		}
		return fetch.TLS.Errorf("the public key of the server does not match --pinnedpubkey")
	}
	return nil
}

// startTLSFlags are the flags for STARTTLS. They apply to the protocols that
// start in plaintext: ftp, imap, ldap, pop and nntp.
type startTLSFlags struct{ enabled, required bool }

func (f *startTLSFlags) register(s *options.Set) {
	p := s.Section("TLS")
	p.BoolVar(&f.enabled, "ssl", false, "use TLS if the server supports it (ftp, imap, ldap, pop, nntp)")
	p.BoolVar(&f.required, "ssl-reqd", false, "fail if the server does not support TLS (ftp, imap, ldap, pop, nntp)")
}

// mode returns the TLSMode that --ssl and --ssl-reqd select.
func (f *startTLSFlags) mode() scheme.TLSMode {
	switch {
	case f.required:
		return scheme.TLSRequired
	case f.enabled:
		return scheme.TLSWanted
	}
	return scheme.TLSDefault
}
