package tlsfiles

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"
)

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

// TestSubject checks for which certificates, and for how long, an OCSP response is
// used. Two authorities with one responder can use the same serial number.
func TestSubject(t *testing.T) {
	root := newIssuer(t)
	authority := func(serial int64, name string) *issuer {
		return root.issue(t, &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, IsCA: true,
			BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature})
	}
	ca, other := authority(2, "One"), authority(3, "Two")
	server := ca.issue(t, &x509.Certificate{SerialNumber: big.NewInt(9)})
	responder := ca.issue(t, &x509.Certificate{SerialNumber: big.NewInt(4), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}})
	const minute, hour = time.Minute, time.Hour
	for _, c := range []struct {
		name           string
		issuer, signer *issuer
		embedded       *issuer // its certificate is in the response
		from, to       time.Duration
		ok             bool
	}{
		{"the authority", ca, ca, nil, -hour, hour, true},
		{"the authority with its certificate", ca, ca, ca, -hour, hour, true},
		{"its certificate, another signer", ca, other, ca, -hour, hour, false},
		{"a responder", ca, responder, responder, -hour, hour, true},
		{"another issuer", other, ca, nil, -hour, hour, false},
		{"another issuer with this responder", other, responder, responder, -hour, hour, false},
		{"a clock that is behind", ca, ca, nil, 2 * minute, hour, true},
		{"a clock that is ahead", ca, ca, nil, -hour, -2 * minute, true},
		{"a later response", ca, ca, nil, 6 * minute, hour, false},
		{"an expired response", ca, ca, nil, -hour, -6 * minute, false},
		{"an end before the start", ca, ca, nil, 2 * minute, -2 * minute, false},
	} {
		now := time.Now()
		r := ocsp.Response{Status: ocsp.Good, SerialNumber: server.cert.SerialNumber, ThisUpdate: now.Add(c.from), NextUpdate: now.Add(c.to)}
		if c.embedded != nil {
			r.Certificate = c.embedded.cert
		}
		der, err := ocsp.CreateResponse(c.issuer.cert, c.signer.cert, r, c.signer.key)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkStatus(der, server.cert, ca.cert, now); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
