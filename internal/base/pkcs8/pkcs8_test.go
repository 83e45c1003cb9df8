package pkcs8_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/base/pkcs8"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestDecrypt decrypts keys that OpenSSL encrypted.
func TestDecrypt(t *testing.T) {
	openssl := peer.Need(t, "openssl", "openssl")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	want, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: want}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"default":                 nil,
		"AES-128 and SHA-1":       {"-v2", "aes-128-cbc", "-v2prf", "hmacWithSHA1"},
		"AES-192 and SHA-384":     {"-v2", "aes-192-cbc", "-v2prf", "hmacWithSHA384"},
		"3DES and SHA-512":        {"-v2", "des3", "-v2prf", "hmacWithSHA512"},
		"scrypt":                  {"-scrypt"},
		"unsupported, PBES1":      {"-v1", "PBE-SHA1-3DES"},
		"unsupported, camellia":   {"-v2", "camellia-256-cbc"},
		"many iterations allowed": {"-iter", "300000"},
	} {
		args := append([]string{"pkcs8", "-topk8", "-in", file, "-passout", "pass:s3cret"}, args...)
		out, err := exec.Command(openssl, args...).Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		block, _ := pem.Decode(out)
		got, err := pkcs8.Decrypt(block.Bytes, "s3cret")
		if unsupported := name[:2] == "un"; unsupported != (err != nil) || !unsupported && string(got) != string(want) {
			t.Errorf("%s: got %d bytes, %v", name, len(got), err)
		}
		if _, wrong := pkcs8.Decrypt(block.Bytes, "wrong"); err == nil && !errors.Is(wrong, pkcs8.ErrPassphrase) {
			t.Errorf("%s: wrong passphrase: got %v", name, wrong)
		}
	}
}

// TestScryptMemory checks that a key cannot require more memory than maxScrypt for
// one of the two arrays of scrypt.
func TestScryptMemory(t *testing.T) {
	type algorithm struct {
		OID        asn1.ObjectIdentifier
		Parameters any
	}
	type parameters struct {
		Salt    []byte
		N, R, P int
	}
	for name, p := range map[string]parameters{"many blocks": {nil, 2, 1 << 20, 64}, "large blocks": {nil, 1 << 21, 2, 1}} {
		der, err := asn1.Marshal(struct {
			Algorithm algorithm
			Data      []byte
		}{algorithm{asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}, struct{ Derivation, Encryption algorithm }{
			algorithm{asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11591, 4, 11}, p},
			algorithm{asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 2}, make([]byte, 16)},
		}}, make([]byte, 16)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pkcs8.Decrypt(der, "s3cret"); err == nil || !strings.Contains(err.Error(), "unsupported parameters of scrypt") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// FuzzDecrypt checks that malformed keys are rejected in bounded time.
func FuzzDecrypt(f *testing.F) {
	f.Add([]byte("0\x82\x00\x00"))
	f.Add([]byte("\x30\x14\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0d\x30\x00\x04\x03abc"))
	f.Fuzz(func(t *testing.T, der []byte) {
		if key, err := pkcs8.Decrypt(der, "s3cret"); err == nil && len(key) >= len(der) {
			t.Errorf("got a key of %d bytes from %d", len(key), len(der))
		}
	})
}
