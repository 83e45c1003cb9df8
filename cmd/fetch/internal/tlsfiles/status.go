package tlsfiles

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"slices"
	"time"

	"golang.org/x/crypto/ocsp"

	"github.com/anyurl/fetch/fetch"
)

// statusCheck requires that the server staples an OCSP response (RFC 6066
// section 8) by which its certificate is not revoked.
func statusCheck(s tls.ConnectionState) error {
	if len(s.OCSPResponse) == 0 {
		return fetch.TLS.Errorf("the server sent no OCSP response, which --cert-status requires")
	}
	var err error = fetch.TLS.Errorf("the certificate of the server has no issuer")
	for _, chain := range s.VerifiedChains {
		issuer := chain[min(1, len(chain)-1)]
		if err = checkStatus(s.OCSPResponse, chain[0], issuer, time.Now()); err == nil {
			return nil
		}
	}
	return err
}

// clockSkew is the permitted difference between the clock of the responder and
// that of this machine, as in curl.
const clockSkew = 5 * time.Minute

// checkStatus returns an error unless an OCSP response states that a certificate
// is good.
func checkStatus(response []byte, cert, issuer *x509.Certificate, now time.Time) error {
	r, err := ocsp.ParseResponseForCert(response, cert, nil)
	if err == nil {
		err = checkSigner(r, issuer, now)
	}
	switch {
	case err != nil:
		return fetch.TLS.Errorf("OCSP response of the server: %w", err)
	case !describes(r, issuer):
		return fetch.TLS.Errorf("OCSP response of the server: it describes a certificate of another issuer")
	case r.Status == ocsp.Revoked:
		return fetch.TLS.Errorf("the certificate of the server is revoked since %v", r.RevokedAt.UTC())
	case r.Status != ocsp.Good:
		return fetch.TLS.Errorf("the OCSP responder does not know the certificate of the server")
	case now.Add(clockSkew).Before(r.ThisUpdate):
		return fetch.TLS.Errorf("the OCSP response of the server is not valid yet")
	case !r.NextUpdate.IsZero() && (now.Add(-clockSkew).After(r.NextUpdate) || r.NextUpdate.Before(r.ThisUpdate)):
		return fetch.TLS.Errorf("the OCSP response of the server has expired")
	}
	return nil
}

// checkSigner returns an error unless issuer has signed r, or the owner of a
// certificate to which issuer has delegated this (RFC 6960 section 4.2.2.2). Package
// ocsp has checked that the key of r.Certificate has signed r.
func checkSigner(r *ocsp.Response, issuer *x509.Certificate, now time.Time) error {
	c := r.Certificate
	switch {
	case c == nil:
		return r.CheckSignatureFrom(issuer)
	case bytes.Equal(c.RawSubjectPublicKeyInfo, issuer.RawSubjectPublicKeyInfo): // issuer, in any of its certificates
		return nil
	}
	if err := issuer.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature); err != nil {
		return err
	}
	if !slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageOCSPSigning) || now.Before(c.NotBefore) || now.After(c.NotAfter) {
		return fetch.TLS.Errorf("the certificate of its signer is not valid for this use")
	}
	return nil
}

// describes reports whether r describes a certificate of issuer. Package ocsp
// compares only serial numbers, which other authorities with the same responder
// can use too.
func describes(r *ocsp.Response, issuer *x509.Certificate) bool {
	var data struct {
		Version   int `asn1:"optional,explicit,tag:0"`
		Responder asn1.RawValue
		Produced  time.Time `asn1:"generalized"`
		Responses []struct {
			ID struct {
				Hash      pkix.AlgorithmIdentifier
				Name, Key []byte
				Serial    *big.Int
			}
		}
	}
	var key struct {
		Algorithm pkix.AlgorithmIdentifier
		Bits      asn1.BitString
	}
	if _, err := asn1.Unmarshal(r.TBSResponseData, &data); err != nil || !r.IssuerHash.Available() {
		return false
	}
	if _, err := asn1.Unmarshal(issuer.RawSubjectPublicKeyInfo, &key); err != nil {
		return false
	}
	for _, s := range data.Responses {
		if s.ID.Serial.Cmp(r.SerialNumber) == 0 { // the first one, as in package ocsp
			return bytes.Equal(s.ID.Name, sum(r.IssuerHash, issuer.RawSubject)) && bytes.Equal(s.ID.Key, sum(r.IssuerHash, key.Bits.RightAlign()))
		}
	}
	return false
}

func sum(h crypto.Hash, b []byte) []byte {
	w := h.New()
	w.Write(b)
	return w.Sum(nil)
}
