package tlsfiles

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
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

// scope returns the critical extension that limits a list to some certificates
// (RFC 5280 section 5.2.5). The tag 1 means those of users, 2 those of
// authorities.
func scope(t *testing.T, tag int) pkix.Extension {
	t.Helper()
	yes := asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tag, Bytes: []byte{0xff}}
	value, err := asn1.Marshal([]asn1.RawValue{yes})
	if err != nil {
		t.Fatal(err)
	}
	return pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 28}, Critical: true, Value: value}
}

// TestLists checks lists of an authority that do not have all of its revoked
// certificates.
func TestLists(t *testing.T) {
	ca := newIssuer(t)
	server := ca.issue(t, &x509.Certificate{SerialNumber: big.NewInt(2), CRLDistributionPoints: []string{"http://ca.test/1.crl"}})
	list := func(age time.Duration, extra []pkix.Extension, serials ...int64) *x509.RevocationList {
		t.Helper()
		l := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: time.Now().Add(-age), NextUpdate: time.Now().Add(time.Hour), ExtraExtensions: extra}
		for _, n := range serials {
			l.RevokedCertificateEntries = append(l.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: big.NewInt(n), RevocationTime: l.ThisUpdate})
		}
		der, err := x509.CreateRevocationList(rand.Reader, l, ca.cert, ca.key)
		if err != nil {
			t.Fatal(err)
		}
		if l, err = x509.ParseRevocationList(der); err != nil {
			t.Fatal(err)
		}
		return l
	}
	authorities, users, changed := []pkix.Extension{scope(t, 2)}, []pkix.Extension{scope(t, 1)}, []pkix.Extension{scope(t, 4)}
	part := func(uri string) []pkix.Extension {
		name := asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 6, Bytes: []byte(uri)}
		value, err := asn1.Marshal(distribution{Point: struct {
			Names    []asn1.RawValue  `asn1:"optional,tag:0"`
			Relative pkix.RDNSequence `asn1:"optional,tag:1"`
		}{Names: []asn1.RawValue{name}}})
		if err != nil {
			t.Fatal(err)
		}
		return []pkix.Extension{{Id: distributionID, Critical: true, Value: value}}
	}
	delta := []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 27}, Critical: true, Value: []byte{2, 1, 1}}}
	for _, c := range []struct {
		name  string
		lists []*x509.RevocationList
		ok    bool
	}{
		{"complete", []*x509.RevocationList{list(time.Minute, nil, 3)}, true},
		{"newer one without the certificate", []*x509.RevocationList{list(time.Minute, nil, 3), list(time.Hour, nil, 2)}, true},
		{"revoked, newer list of authorities", []*x509.RevocationList{list(time.Hour, nil, 2), list(time.Minute, authorities)}, false},
		{"revoked, newer list of changes", []*x509.RevocationList{list(time.Hour, nil, 2), list(time.Minute, delta, 9)}, false},
		{"revoked by the changes", []*x509.RevocationList{list(time.Hour, nil, 3), list(time.Minute, delta, 2)}, false},
		{"revoked by the list of users", []*x509.RevocationList{list(time.Hour, nil, 3), list(time.Minute, users, 2)}, false},
		{"list of users", []*x509.RevocationList{list(time.Minute, users, 3)}, true},
		{"list that another authority signs for the issuer", []*x509.RevocationList{list(time.Minute, changed)}, false},
		{"part with the certificate", []*x509.RevocationList{list(time.Minute, part("http://ca.test/1.crl"), 3), list(time.Second, part("http://ca.test/2.crl"), 4)}, true},
		{"revoked in its part", []*x509.RevocationList{list(time.Minute, part("http://ca.test/1.crl"), 2), list(time.Second, part("http://ca.test/2.crl"), 4)}, false},
		{"another part", []*x509.RevocationList{list(time.Second, part("http://ca.test/2.crl"), 4)}, false},
		{"only a list of authorities", []*x509.RevocationList{list(time.Minute, authorities)}, false},
		{"only changes", []*x509.RevocationList{list(time.Minute, delta)}, false},
	} {
		err := checkChain([]*x509.Certificate{server.cert, ca.cert}, c.lists, time.Now())
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestDamagedLists checks files with a list that cannot be read. A file from which
// such a list is missing could accept a revoked certificate.
func TestDamagedLists(t *testing.T) {
	ca := newIssuer(t)
	der, err := x509.CreateRevocationList(rand.Reader, &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: time.Now(), NextUpdate: time.Now().Add(time.Hour)}, ca.cert, ca.key)
	if err != nil {
		t.Fatal(err)
	}
	list := string(pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der}))
	file := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(file, der, 0o600); err != nil {
		t.Fatal(err)
	}
	if check, err := crlCheck(file); err != nil || fetch.FaultOf(check(tls.ConnectionState{})) != fetch.TLS {
		t.Errorf("a certificate without an issuer is accepted: %v", err)
	}
	key := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.cert.Raw}))
	for _, c := range []struct {
		name, text string
		want       int // number of lists, or -1 for an error
	}{
		{"two lists", list + list, 2},
		{"comments and a certificate", "# CA\n" + list + key + "# end\n" + list, 2},
		{"CRLF", strings.ReplaceAll(list+list, "\n", "\r\n"), 2},
		{"DER", string(der), 1},
		{"DER and another list", string(der) + string(der), -1},
		{"DER and PEM", string(der) + list, -1},
		{"truncated DER", string(der[:len(der)-1]), -1},
		{"truncated end", list + list[:len(list)-12], -1},
		{"truncated list", list + list[:len(list)-80], -1},
		{"truncated first list", list[:len(list)-80] + "\n" + list, -1},
		{"invalid character", list[:60] + "*" + list[60:] + list, -1},
		{"byte order mark", "\ufeff" + list + list, -1},
	} {
		got, err := parseLists([]byte(c.text))
		if (err != nil) != (c.want < 0) || err == nil && len(got) != c.want {
			t.Errorf("%s: %d lists, %v", c.name, len(got), err)
		}
	}
}
