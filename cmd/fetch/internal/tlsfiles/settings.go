// Package tlsfiles converts files of certificates, keys and revocation lists to
// configurations of TLS.
package tlsfiles

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// Settings describe the TLS connections to servers, or those to a proxy. The
// zero value selects the defaults of crypto/tls.
type Settings struct {
	Insecure bool   // skip certificate verification
	CACert   string // trust the CA certificates in this file
	CAPath   string // trust the CA certificates in this folder
	CANative bool   // also trust the CA certificates of the system
	Cert     string // the client certificate, as FILE or FILE:PASSPHRASE
	Key      string // the file of its private key; if "", the file of Cert
	Pass     string // the passphrase of the private key; if "", the user is prompted
	Pinned   string // hashes of the permitted public keys of servers
	CRL      string // the file with certificate revocation lists
	Status   bool   // require a stapled OCSP response
	Min, Max uint16 // versions of TLS; 0 means the default
}

// A Console prompts the user for passphrases.
type Console struct {
	Ask  func(ctx context.Context, file string) (fetch.Secret, error) // nil without a terminal
	Note func(format string, args ...any)
}

// maxFile is the maximum size of a file with certificates, keys or revocation
// lists in bytes. The bundle of a Linux distribution has 250 KiB.
const maxFile = 16 << 20

// Config returns the TLS configuration for the settings, or nil for the
// defaults of crypto/tls. It prompts for the passphrase of an encrypted key.
func (s Settings) Config(ctx context.Context, console Console) (*tls.Config, error) {
	if s == (Settings{}) {
		return nil, nil
	}
	c := &tls.Config{InsecureSkipVerify: s.Insecure, MinVersion: tls.VersionTLS12, MaxVersion: s.Max}
	switch {
	case s.Min != 0:
		c.MinVersion = s.Min
	case s.Max != 0:
		c.MinVersion = min(c.MinVersion, s.Max)
	}
	if s.Max != 0 && c.MinVersion > s.Max {
		return nil, fetch.Usage.Errorf("the minimum version of TLS is above --tls-max")
	}
	var err error
	if c.RootCAs, err = s.roots(); err != nil {
		return nil, err
	}
	if s.Cert != "" {
		pair, err := s.loadCert(ctx, console)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, s.addChecks(c)
}

// roots returns the trusted CA certificates, or nil for the certificates of the
// system.
func (s Settings) roots() (pool *x509.CertPool, err error) {
	if s.CACert == "" && s.CAPath == "" {
		return nil, nil
	}
	pool = x509.NewCertPool()
	if s.CANative {
		if pool, err = x509.SystemCertPool(); err != nil {
			return nil, fetch.Local.With(err)
		}
	}
	if s.CACert != "" {
		text, err := readFile(s.CACert)
		if err != nil {
			return nil, err
		}
		if !pool.AppendCertsFromPEM(text) {
			return nil, fetch.Usage.Errorf("%s contains no certificate in PEM format", s.CACert)
		}
	}
	if s.CAPath != "" {
		return pool, appendFolder(pool, s.CAPath)
	}
	return pool, nil
}

// appendFolder adds the certificates in the files of a folder to pool. Unlike
// OpenSSL, it does not require that a file has the hash of the subject as its
// name.
func appendFolder(pool *x509.CertPool, dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return fetch.Local.With(err)
	}
	found := false
	for _, f := range files {
		name := filepath.Join(dir, f.Name())
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			continue
		}
		text, err := readFile(name)
		if err != nil {
			return err
		}
		found = pool.AppendCertsFromPEM(text) || found
	}
	if !found {
		return fetch.Usage.Errorf("%s contains no certificate in PEM format", dir)
	}
	return nil
}

// readFile returns the content of a file.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fetch.Local.With(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, fetch.Local.With(err)
	case len(text) > maxFile:
		return nil, fetch.Local.Errorf("%s: file is larger than %d bytes", name, maxFile)
	}
	return text, nil
}

// A check verifies a connection after the handshake of crypto/tls.
type check func(tls.ConnectionState) error

// addChecks adds the checks of --pinnedpubkey, --crlfile and --cert-status to c.
func (s Settings) addChecks(c *tls.Config) error {
	var checks []check
	if s.Pinned != "" {
		pins, err := pinCheck(s.Pinned)
		if err != nil {
			return err
		}
		checks = append(checks, pins)
	}
	if s.CRL != "" && !s.Insecure {
		revoked, err := crlCheck(s.CRL)
		if err != nil {
			return err
		}
		checks = append(checks, revoked)
	}
	switch {
	case s.Status && s.Insecure:
		return fetch.Usage.Errorf("the status of a certificate (--cert-status) cannot be checked if the certificate is not verified (--insecure)")
	case s.Status:
		checks = append(checks, statusCheck)
	}
	if checks == nil {
		return nil
	}
	c.VerifyConnection = func(state tls.ConnectionState) error {
		for _, check := range checks {
			if err := check(state); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

// pinCheck returns a check that rejects servers whose public key is not in the
// list of hashes. The check applies even if certificates are not verified.
func pinCheck(list string) (check, error) {
	pins := strings.Split(list, ";")
	for _, pin := range pins {
		digest, ok := strings.CutPrefix(pin, "sha256//")
		if b, err := base64.StdEncoding.DecodeString(digest); !ok || err != nil || len(b) != sha256.Size {
			return nil, fetch.Usage.Errorf("--pinnedpubkey requires sha256// and a digest in base64")
		}
	}
	return func(s tls.ConnectionState) error {
		digest := sha256.Sum256(s.PeerCertificates[0].RawSubjectPublicKeyInfo)
		if slices.Contains(pins, "sha256//"+base64.StdEncoding.EncodeToString(digest[:])) {
			return nil
		}
		return fetch.TLS.Errorf("the public key of the server does not match --pinnedpubkey")
	}, nil
}

// ParseVersion parses the argument of --tls-max. The result for "default" is 0.
func ParseVersion(text string) (uint16, error) {
	versions := map[string]uint16{
		"default": 0, "1.0": tls.VersionTLS10, "1.1": tls.VersionTLS11, "1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13,
	}
	v, ok := versions[text]
	if !ok {
		return 0, fetch.Usage.Errorf("TLS version %q is not 1.0, 1.1, 1.2, 1.3 or default", text)
	}
	return v, nil
}
