package sasl

import (
	"crypto/sha1"
	"crypto/sha256"
	"hash"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// The examples of RFC 5802 5 and RFC 7677 3.
var scramExamples = []struct {
	hash                               func() hash.Hash
	nonce, first, server, final, proof string
}{
	{sha1.New, "fyko+d2lbbFgONRv9qkxdawL", "n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL",
		"r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
		"c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=", "v=rmF9pqV8S7suAoZWja4dJRkFsKQ="},
	{sha256.New, "rOprNGfwEbeRWgbNEkqO", "n,,n=user,r=rOprNGfwEbeRWgbNEkqO",
		"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
		"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=", "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="},
}

func TestScram(t *testing.T) {
	for _, e := range scramExamples {
		x := newScram(e.hash, "user", "pencil", e.nonce).exchange()
		if got := string(x.Initial()); got != e.first {
			t.Errorf("first message %q, want %q", got, e.first)
		}
		if got, err := x.Respond([]byte(e.server)); string(got) != e.final || err != nil {
			t.Errorf("final message %q, %v, want %q", got, err, e.final)
		}
		if x.Verify() == nil {
			t.Error("server accepted without a signature")
		}
		if got, err := x.Respond([]byte(e.proof)); len(got) > 0 || err != nil || x.Verify() != nil {
			t.Errorf("proof: %q, %v, %v", got, err, x.Verify())
		}
	}
	if got := newScram(sha1.New, "a=b,\u2168", "", "x").clientFirstBare; got != "n=a=3Db=2CIX,r=x" {
		t.Errorf("name: %q", got)
	}
}

func TestScramErrors(t *testing.T) {
	e := scramExamples[0]
	for name, server := range map[string]string{
		"foreign nonce":             strings.Replace(e.server, "r=fyko", "r=Fyko", 1),
		"nonce not extended":        "r=" + e.nonce + ",s=QSXCR+Q6sek8bf92,i=4096",
		"no salt":                   strings.Replace(e.server, "s=QSXCR+Q6sek8bf92", "s=", 1),
		"salt not base64":           strings.Replace(e.server, "s=QSXCR+Q6sek8bf92", "s=!", 1),
		"iteration count too small": strings.Replace(e.server, "i=4096", "i=1", 1),
		"iteration count too large": strings.Replace(e.server, "i=4096", "i=1000000000", 1),
		"iteration count missing":   strings.Replace(e.server, "i=4096", "i=", 1),
		"an extension":              "m=x," + e.server,
		"empty message":             "",
	} {
		x := newScram(e.hash, "user", "pencil", e.nonce).exchange()
		if got, err := x.Respond([]byte(server)); fetch.FaultOf(err) != fetch.Auth {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	for name, proof := range map[string]string{"a wrong proof": "v=AAAA", "an error": "e=invalid-proof", "empty message": ""} {
		x := newScram(e.hash, "user", "pencil", e.nonce).exchange()
		x.Respond([]byte(e.server))
		if _, err := x.Respond([]byte(proof)); fetch.FaultOf(err) != fetch.Auth || x.Verify() == nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
