package mitm

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// A CA is a certification authority that issues certificates for the hosts of
// intercepted requests. It is safe for concurrent use.
type CA struct {
	cert *x509.Certificate
	key  crypto.Signer
	leaf *ecdsa.PrivateKey // key of all issued certificates; only in memory

	mu     sync.Mutex
	issued map[string]*tls.Certificate
}

const (
	caLife   = 3 * 365 * 24 * time.Hour // validity of the certificate of a CA
	leafLife = 90 * 24 * time.Hour      // validity of an issued certificate
	backdate = 24 * time.Hour           // for clients whose clock is slow

	// maxIssued limits the issued certificates that a CA keeps in memory.
	maxIssued = 1024
)

// NewCA returns a CA with a new key, which is valid from the time now.
func NewCA(now time.Time) (*CA, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject: pkix.Name{
			Organization: []string{"fetch recording proxy"},
			// The serial number distinguishes the CAs of several machines.
			CommonName: fmt.Sprintf("fetch recording proxy CA %x", serial.Bytes()[:4]),
		},
		NotBefore: now.Add(-backdate), NotAfter: now.Add(caLife),
		KeyUsage:    x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA:        true, BasicConstraintsValid: true, MaxPathLenZero: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return newCA(der, key)
}

func newCA(der []byte, key crypto.Signer) (*CA, error) {
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	public, ok := cert.PublicKey.(interface{ Equal(crypto.PublicKey) bool })
	switch {
	case !ok || !public.Equal(key.Public()):
		return nil, errors.New("the key does not belong to the certificate")
	case !cert.IsCA:
		return nil, errors.New("the certificate is not that of a CA")
	}
	leaf, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return &CA{cert: cert, key: key, leaf: leaf, issued: map[string]*tls.Certificate{}}, err
}

// newSerial returns a random serial number of 16 bytes.
func newSerial() (*big.Int, error) {
	var b [16]byte
	_, err := rand.Read(b[:])
	b[0] = b[0]&0x7f | 0x40 // positive, and always 16 bytes long
	return new(big.Int).SetBytes(b[:]), err
}

// PEM returns the certificate of the CA without its key.
func (ca *CA) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.cert.Raw})
}

// Name returns the common name of the CA, which certificate stores display.
func (ca *CA) Name() string { return ca.cert.Subject.CommonName }

// KeyHash returns the SHA-256 digest of the public key of all issued
// certificates, in base64. Chromium trusts them with the flag
// --ignore-certificate-errors-spki-list.
func (ca *CA) KeyHash() string {
	der, err := x509.MarshalPKIXPublicKey(ca.leaf.Public())
	if err != nil { // impossible for a key on P-256
		return ""
	}
	sum := sha256.Sum256(der)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// encode returns the certificate and the key of the CA.
func (ca *CA) encode() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(ca.key)
	if err != nil {
		return nil, err
	}
	return append(ca.PEM(), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})...), nil
}

// decodeCA parses the result of encode.
func decodeCA(text []byte) (*CA, error) {
	cert, rest := pem.Decode(text)
	if cert == nil || cert.Type != "CERTIFICATE" {
		return nil, errors.New("no certificate in PEM form")
	}
	block, rest := pem.Decode(rest)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, errors.New("no private key in PEM form")
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New("unexpected data after the private key")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	key, ok := parsed.(crypto.Signer)
	if !ok {
		return nil, errors.New("the private key cannot sign")
	}
	return newCA(cert.Bytes, key)
}

// certificate returns a certificate for a host name or an IP address, which is
// valid at the time now.
func (ca *CA) certificate(host string, now time.Time) (*tls.Certificate, error) {
	ca.mu.Lock()
	defer ca.mu.Unlock()
	if c := ca.issued[host]; c != nil && now.Before(c.Leaf.NotAfter.Add(-backdate)) {
		return c, nil
	}
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{Organization: []string{"fetch recording proxy"}},
		NotBefore:    now.Add(-backdate), NotAfter: now.Add(leafLife),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.cert, ca.leaf.Public(), ca.key)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	if len(ca.issued) >= maxIssued {
		clear(ca.issued)
	}
	c := &tls.Certificate{Certificate: [][]byte{der, ca.cert.Raw}, PrivateKey: ca.leaf, Leaf: parsed}
	ca.issued[host] = c
	return c, nil
}
