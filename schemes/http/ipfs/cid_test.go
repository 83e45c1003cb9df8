package ipfs

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/crypto/blake2b"

	"github.com/anyurl/fetch/fetch"
)

// TestText parses identifiers. The texts of the same block are equal.
func TestText(t *testing.T) {
	const v0, v1 = "QmdfTbBqBPQ7VNxZEYEj14VmRuZBkqFbiwReogJgS1zR1n", "bafybeihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"
	for _, test := range []struct{ name, text, want string }{
		{"version 0", v0, v1},
		{"base 32", v1, v1},
		{"base 32 in upper case", strings.ToUpper(v1), v1},
		{"identity", "bafkqabtimvwgy3yk", "bafkqabtimvwgy3yk"},
		{"empty", "", ""},
		{"no prefix", v1[1:], ""},
		{"changed case of version 0", strings.ToLower(v0), ""},
		{"short version 0", v0[:45], ""},
		{"version 0 with a prefix", "z" + v0, ""},
		{"digit that base 58 lacks", v0[:45] + "0", ""},
		{"digit that base 32 lacks", v1[:58] + "1", ""},
		{"padding", v1 + "=", ""},
		{"bits after the end", v1[:58] + "v", ""},
		{"truncated", v1[:30], ""},
		{"prefix only", "b", ""},
		{"other base", "f01551220" + strings.Repeat("0", 50), ""},
		{"long", "b" + strings.Repeat("a", maxText), ""},
		{"line end", v1[:20] + "\n" + v1[20:], ""},
	} {
		c, _, err := parseText(test.text)
		got := ""
		if err == nil {
			got = c.String()
		}
		if got != test.want {
			t.Errorf("%s: %q, %v, want %q", test.name, got, err, test.want)
		}
	}
}

// TestBases encodes and decodes an identifier in each base.
func TestBases(t *testing.T) {
	c := cid{rawCodec, sha256Hash, strings.Repeat("\x00\xff", 16)}
	for prefix, alphabet := range map[string]string{"z": base58, "k": base36} {
		text := prefix + encodeBase(binaryOf(c), alphabet)
		got, sensitive, err := parseText(text)
		if got != c || err != nil || sensitive != (prefix == "z") {
			t.Errorf("%s: %v, %v, %v", text, got, sensitive, err)
		}
	}
	for _, b := range [][]byte{nil, {0}, {0, 0, 1}, {1, 0}, {255, 255, 255}} {
		for _, alphabet := range []string{base58, base36} {
			if got, ok := decodeBase(encodeBase(b, alphabet), alphabet); !ok || !bytes.Equal(got, b) {
				t.Errorf("%v: %v, %v", b, got, ok)
			}
		}
	}
}

// encodeBase is the inverse of decodeBase.
func encodeBase(b []byte, alphabet string) string {
	var digits []int // little-endian
	for _, carry := range b {
		rest := int(carry)
		for i := range digits {
			rest += digits[i] << 8
			digits[i] = rest % len(alphabet)
			rest /= len(alphabet)
		}
		for ; rest > 0; rest /= len(alphabet) {
			digits = append(digits, rest%len(alphabet))
		}
	}
	var text strings.Builder
	for i := 0; i < len(b) && b[i] == 0; i++ {
		text.WriteByte(alphabet[0])
	}
	for i := len(digits) - 1; i >= 0; i-- {
		text.WriteByte(alphabet[digits[i]])
	}
	return text.String()
}

// TestBinary parses identifiers in links and CAR files.
func TestBinary(t *testing.T) {
	digest := strings.Repeat("d", 32)
	for _, test := range []struct {
		name, in string
		want     cid
		rest     string
	}{
		{"version 1", "\x01\x55\x12\x20" + digest + "rest", cid{rawCodec, sha256Hash, digest}, "rest"},
		{"version 0", "\x12\x20" + digest + "rest", cid{dagPBCodec, sha256Hash, digest}, "rest"},
		{"long code", "\x01\x55\xa0\xe4\x02\x20" + digest, cid{rawCodec, blake2bHash, digest}, ""},
		{"identity", "\x01\x55\x00\x02hirest", cid{rawCodec, identityHash, "hi"}, "rest"},
		{"empty identity", "\x01\x55\x00\x00", cid{rawCodec, identityHash, ""}, ""},
	} {
		got, rest, err := cutCID([]byte(test.in))
		if got != test.want || string(rest) != test.rest || err != nil {
			t.Errorf("%s: %v, %q, %v", test.name, got, rest, err)
		}
	}
	for name, in := range map[string]string{
		"empty": "", "truncated version 0": "\x12\x20" + digest[:31], "version 2": "\x02\x55\x12\x20" + digest, "no digest": "\x01\x55\x12\x20",
		"long varint": "\x01\xd5\x00\x12\x20" + digest, "endless varint": strings.Repeat("\xff", 30), "length above the limit": "\x01\x55\x00\x81\x01" + strings.Repeat("x", 200),
	} {
		if got, _, err := cutCID([]byte(in)); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestHashes compares the digests of "abc" with published ones.
func TestHashes(t *testing.T) {
	v := verifier{blake2b.Sum256}
	for _, test := range []struct {
		hash uint64
		want string // in hexadecimal
	}{
		{sha256Hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{sha3_224Hash, "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf"},
		{sha3_256Hash, "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"},
		{sha3_384Hash, "ec01498288516fc926459f58e2c6ad8df9b473cb0fc08c2596da7cf0e49be4b298d88cea927ac7f539f1edf228376d25"},
		{sha3_512Hash, "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0"},
		{blake2bHash, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"},
	} {
		c := cid{rawCodec, test.hash, string(unhex(t, test.want))}
		if err := v.check(c); err != nil || !v.matches(c, []byte("abc")) || v.matches(c, []byte("abd")) {
			t.Errorf("%#x: %v", test.hash, err)
		}
		c.digest = c.digest[1:]
		if err := v.check(c); fetch.FaultOf(err) != fetch.Unsupported {
			t.Errorf("%#x with a truncated digest: %v", test.hash, err)
		}
	}
	if err := (verifier{}).check(cid{rawCodec, blake2bHash, strings.Repeat("x", 32)}); fetch.FaultOf(err) != fetch.Unsupported {
		t.Errorf("without BLAKE2b: %v", err)
	}
}

// TestMurmur compares digests with those of the reference implementation.
func TestMurmur(t *testing.T) {
	for text, want := range map[string]uint64{
		"": 0, "hello": 0xcbd8a7b341bd9b02, "hello, world": 0x342fac623a5ebc8e,
		"The quick brown fox jumps over the lazy dog.": 0xcd99481f9ee902c9,
	} {
		if got := murmur(text); got != want {
			t.Errorf("%q: %#x, want %#x", text, got, want)
		}
	}
}
