package tlsfiles

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/asn1"
	"math/big"
	"strings"
	"testing"
	"time"

	"software.sslmate.com/src/go-pkcs12"
)

// TestIterations checks that a PKCS #12 file cannot require billions of
// iterations, for its MAC and for the encryption of the key and the certificate.
func TestIterations(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1 << 40), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	for name, encoder := range map[string]*pkcs12.Encoder{"SHA-1": pkcs12.LegacyDES, "RC2": pkcs12.LegacyRC2, "AES": pkcs12.Modern2023, "PBMAC1": pkcs12.Modern2026} {
		text, err := encoder.WithIterations(3001).Encode(key, cert, nil, "s3cret")
		if err != nil {
			t.Fatal(err)
		}
		load := func(text []byte) error {
			_, _, err := loadPKCS12(&passphrases{ctx: t.Context(), given: "s3cret"}, text, "file")
			return err
		}
		if err := load(text); err != nil || isCostly(text, 3001, maxLevels) || !isCostly(text, 3000, maxLevels) {
			t.Errorf("%s: got %v, or the wrong number of iterations", name, err)
		}
		var file struct {
			Version int
			Safe    asn1.RawValue
			MAC     struct {
				Digest     asn1.RawValue
				Salt       []byte
				Iterations int
			}
		}
		if _, err := asn1.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		file.MAC.Iterations = 1 << 50
		if text, err = asn1.Marshal(file); err != nil {
			t.Fatal(err)
		}
		if err := load(text); err == nil || !strings.Contains(err.Error(), "iterations") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
