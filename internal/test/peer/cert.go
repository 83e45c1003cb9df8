package peer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// A Cert is a self-signed certificate with its private key, as Go values and as
// PEM files.
type Cert struct {
	Pool    *x509.CertPool  // trusts only this certificate
	TLS     tls.Certificate // the certificate and key, for servers in Go
	File    string          // path of the certificate in PEM form
	KeyFile string          // path of the key in PEM form, readable by all accounts
}

// CertOptions configures a certificate. The zero value describes a valid
// certificate for localhost.
type CertOptions struct {
	Hosts   []string // names and addresses; nil: localhost, 127.0.0.1 and ::1
	Expired bool     // the certificate expired yesterday
}

// NewCert creates a certificate and writes it and its key to files. The files
// are removed at the end of the test.
func NewCert(t TB, opts CertOptions) *Cert {
	t.Helper()
	dir, err := os.MkdirTemp("", "fetch-peer-cert-")
	if err != nil {
		t.Fatalf("peer: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c, err := newCert(dir, opts)
	if err != nil {
		t.Fatalf("peer: %v", err)
	}
	return c
}

// pemOf returns the certificate and its key, concatenated in PEM form.
func pemOf(c *Cert) ([]byte, error) {
	cert, err := os.ReadFile(c.File)
	if err != nil {
		return nil, err
	}
	key, err := os.ReadFile(c.KeyFile)
	return append(key, cert...), err
}

func newCert(dir string, opts CertOptions) (*Cert, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := certTemplate(opts, time.Now())
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})

	c := &Cert{
		Pool:    x509.NewCertPool(),
		File:    filepath.Join(dir, "cert.pem"),
		KeyFile: filepath.Join(dir, "key.pem"),
	}
	c.Pool.AppendCertsFromPEM(certPEM)
	if c.TLS, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(c.File, certPEM, 0o644); err != nil {
		return nil, err
	}
	return c, os.WriteFile(c.KeyFile, keyPEM, 0o644)
}

func certTemplate(opts CertOptions, now time.Time) *x509.Certificate {
	hosts := opts.Hosts
	if hosts == nil {
		hosts = []string{"localhost", "127.0.0.1", "::1"}
	}
	const day = 24 * time.Hour
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(now.UnixNano()),
		Subject:               pkix.Name{CommonName: hosts[0]},
		NotBefore:             now.Add(-2 * day),
		NotAfter:              now.Add(30 * day),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	if opts.Expired {
		template.NotAfter = now.Add(-day)
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	return template
}
