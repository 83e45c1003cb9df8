package tlsfiles

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"time"

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
		// A gemini server with a stored key has no issuer whose list could cover it.
		err := fetch.TLS.Errorf("--crlfile requires a certificate that is verified with CA certificates (--cacert)")
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
