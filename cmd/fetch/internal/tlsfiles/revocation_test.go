package tlsfiles

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"
)

// An issuer is a certificate authority that signs certificates, lists and OCSP
// responses.
type issuer struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue returns a certificate and its key. The first certificate of an issuer is
// its own.
func (i *issuer) issue(t *testing.T, template *x509.Certificate) *issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	parent, signer := i.cert, i.key
	if parent == nil {
		parent, signer = template, key
	}
	if template.NotAfter.IsZero() {
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &issuer{cert, key}
}

func newIssuer(t *testing.T) *issuer {
	return new(issuer).issue(t, &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "CA"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature})
}

// TestResponder checks which certificates may sign an OCSP response: that of the
// authority, or a valid one to which the authority has delegated the task. With
// its own certificate, a server could declare that it is not revoked.
func TestResponder(t *testing.T) {
	ca := newIssuer(t)
	signing, web := []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	server := ca.issue(t, &x509.Certificate{SerialNumber: big.NewInt(2), ExtKeyUsage: web})
	past := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		name   string
		signer *issuer
		ok     bool
	}{
		{"the authority", ca, true},
		{"a responder", ca.issue(t, &x509.Certificate{SerialNumber: big.NewInt(3), ExtKeyUsage: signing}), true},
		{"the server itself", server, false},
		{"another server", ca.issue(t, &x509.Certificate{SerialNumber: big.NewInt(4), ExtKeyUsage: web}), false},
		{"a certificate for any use", ca.issue(t, &x509.Certificate{SerialNumber: big.NewInt(5), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}), false},
		{"a certificate without uses", ca.issue(t, &x509.Certificate{SerialNumber: big.NewInt(6)}), false},
		{"an expired responder", ca.issue(t, &x509.Certificate{SerialNumber: big.NewInt(7), ExtKeyUsage: signing, NotBefore: past.Add(-time.Hour), NotAfter: past}), false},
		{"a responder of another authority", newIssuer(t).issue(t, &x509.Certificate{SerialNumber: big.NewInt(3), ExtKeyUsage: signing}), false},
	} {
		r := ocsp.Response{Status: ocsp.Good, SerialNumber: server.cert.SerialNumber, ThisUpdate: past, NextUpdate: time.Now().Add(time.Hour)}
		if c.signer != ca {
			r.Certificate = c.signer.cert
		}
		der, err := ocsp.CreateResponse(ca.cert, c.signer.cert, r, c.signer.key)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkStatus(der, server.cert, ca.cert, time.Now()); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
