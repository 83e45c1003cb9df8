package tlsfiles

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"time"

	"golang.org/x/crypto/ocsp"

	"github.com/anyurl/fetch/fetch"
)

// crlCheck returns a check that rejects revoked certificates. As in OpenSSL,
// the file must have a valid list of each authority of the chain.
func crlCheck(name string) (check, error) {
	text, err := readFile(name)
	if err != nil {
		return nil, err
	}
	lists, err := parseLists(text)
	if err != nil {
		return nil, fetch.Usage.Errorf("%s: %w", name, err)
	}
	if len(lists) == 0 {
		return nil, fetch.Usage.Errorf("%s contains no certificate revocation list", name)
	}
	return func(s tls.ConnectionState) error {
		var err error
		for _, chain := range s.VerifiedChains {
			if err = checkChain(chain, lists, time.Now()); err == nil {
				return nil
			}
		}
		return err
	}, nil
}

// parseLists parses certificate revocation lists in PEM, or one list in DER. It
// returns an error if it cannot read one of them, because this list could revoke
// the certificate of a server.
func parseLists(text []byte) (lists []*x509.RevocationList, err error) {
	b, rest := pem.Decode(text)
	if l, err := x509.ParseRevocationList(text); err == nil || b == nil {
		if err == nil && len(l.Raw) != len(text) {
			err = fetch.Usage.Errorf("there are bytes after the list")
		}
		return []*x509.RevocationList{l}, err
	}
	for ; b != nil; b, rest = pem.Decode(rest) {
		if b.Type != listType {
			continue
		}
		l, err := x509.ParseRevocationList(b.Bytes)
		if err != nil {
			return nil, err
		}
		lists = append(lists, l)
	}
	if n := bytes.Count(text, []byte("-----BEGIN "+listType+"-----")); n != len(lists) { // Decode skips damaged blocks
		return nil, fetch.Usage.Errorf("%d of %d lists are damaged", n-len(lists), n)
	}
	return lists, nil
}

const listType = "X509 CRL" // of a list in PEM

// checkChain returns an error if a certificate of the chain is revoked, or if
// lists has no valid list of its issuer that covers it. It does not check the last
// one, which the user trusts.
func checkChain(chain []*x509.Certificate, lists []*x509.RevocationList, now time.Time) error {
	for i, cert := range chain[:len(chain)-1] {
		covering, partial := listsOf(chain[i+1], cert, lists, now)
		if covering == nil {
			return fetch.TLS.Errorf("--crlfile has no valid list of %q", chain[i+1].Subject)
		}
		for _, l := range append(partial, covering) {
			if revokes(l, cert) {
				return fetch.TLS.Errorf("the certificate of %q is revoked", cert.Subject)
			}
		}
	}
	return nil
}

// listsOf returns the valid lists that issuer has signed: the newest one that
// covers cert, or nil, and all lists that do not cover it. A list that does not
// cover a certificate can revoke it, but proves nothing otherwise.
func listsOf(issuer, cert *x509.Certificate, lists []*x509.RevocationList, now time.Time) (covering *x509.RevocationList, partial []*x509.RevocationList) {
	for _, l := range lists {
		if string(l.RawIssuer) != string(issuer.RawSubject) || l.CheckSignatureFrom(issuer) != nil ||
			now.Before(l.ThisUpdate) || !l.NextUpdate.IsZero() && now.After(l.NextUpdate) {
			continue
		}
		switch {
		case !covers(l, cert):
			partial = append(partial, l)
		case covering == nil || l.ThisUpdate.After(covering.ThisUpdate):
			covering = l
		}
	}
	return covering, partial
}

// removedFromList is the reason of an entry in a list of changes that ends a
// revocation (RFC 5280 section 5.3.1).
const removedFromList = 8

func revokes(l *x509.RevocationList, cert *x509.Certificate) bool {
	return slices.ContainsFunc(l.RevokedCertificateEntries, func(e x509.RevocationListEntry) bool {
		return e.ReasonCode != removedFromList && e.SerialNumber.Cmp(cert.SerialNumber) == 0
	})
}

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

// checkStatus returns an error unless an OCSP response states that a certificate
// is good.
func checkStatus(response []byte, cert, issuer *x509.Certificate, now time.Time) error {
	r, err := ocsp.ParseResponseForCert(response, cert, issuer)
	switch {
	case err != nil:
		return fetch.TLS.Errorf("OCSP response of the server: %w", err)
	case !isResponder(r.Certificate, issuer, now):
		return fetch.TLS.Errorf("OCSP response of the server: the certificate of its signer is not valid for this use")
	case r.Status == ocsp.Revoked:
		return fetch.TLS.Errorf("the certificate of the server is revoked since %v", r.RevokedAt.UTC())
	case r.Status != ocsp.Good:
		return fetch.TLS.Errorf("the OCSP responder does not know the certificate of the server")
	case now.Before(r.ThisUpdate) || !r.NextUpdate.IsZero() && now.After(r.NextUpdate):
		return fetch.TLS.Errorf("the OCSP response of the server has expired")
	}
	return nil
}

// isResponder reports whether the owner of cert may sign OCSP responses for the
// certificates of issuer (RFC 6960 section 4.2.2.2). Package ocsp checks only that
// issuer has signed cert, which is nil if issuer has signed the response.
func isResponder(cert, issuer *x509.Certificate, now time.Time) bool {
	if cert == nil || string(cert.RawSubjectPublicKeyInfo) == string(issuer.RawSubjectPublicKeyInfo) {
		return true
	}
	return slices.Contains(cert.ExtKeyUsage, x509.ExtKeyUsageOCSPSigning) && !now.Before(cert.NotBefore) && !now.After(cert.NotAfter)
}
