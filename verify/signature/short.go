package signature

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"hash"
	"strings"

	"golang.org/x/crypto/blake2b"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/verify"
)

// maxMemory is the maximum size of a file in bytes whose signature needs the
// complete file in memory. Signify and the older form of minisign sign the bytes
// themselves instead of a digest.
const maxMemory = 32 << 20

// A shortSignature is a signature of minisign or signify.
type shortSignature struct {
	number  string // identifies the key
	hashed  bool   // signs the BLAKE2b digest of the file
	value   []byte // signature of the file
	comment string // trusted comment of minisign
	global  []byte // signature of value and comment; nil for signify
}

// parseShort parses a signature. Signify writes a comment and the signature in
// base64. Minisign adds a trusted comment and its signature.
func parseShort(text []byte) (s shortSignature, ok bool) {
	lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"), "\n")
	if len(lines) != 2 && len(lines) != 4 {
		return s, false
	}
	b, err := base64.StdEncoding.DecodeString(lines[1])
	if err != nil || len(b) != 2+8+ed25519.SignatureSize {
		return s, false
	}
	s.number, s.value = string(b[2:10]), b[10:]
	switch string(b[:2]) {
	case "Ed":
	case "ED":
		s.hashed = true
	default:
		return s, false
	}
	if len(lines) == 2 {
		return s, !s.hashed // signify has no digests
	}
	if s.comment, ok = strings.CutPrefix(lines[2], "trusted comment: "); !ok {
		return s, false
	}
	s.global, err = base64.StdEncoding.DecodeString(lines[3])
	return s, err == nil && len(s.global) == ed25519.SignatureSize
}

func (k *Keyring) checkShort(text []byte, source string) (verify.Check, error) {
	s, ok := parseShort(text)
	if !ok {
		return nil, fetch.Mismatch.Errorf("%s is a malformed signature, or has more than one", source)
	}
	for _, key := range k.short {
		if key.number != s.number {
			continue
		}
		if s.global != nil && !ed25519.Verify(key.key, append(bytes.Clone(s.value), s.comment...), s.global) {
			return nil, fetch.Mismatch.Errorf("%s: the signature of the trusted comment is wrong", source)
		}
		c := &shortCheck{signature: s, key: key.key, source: source}
		if s.hashed {
			c.digest, _ = blake2b.New512(nil) // without a key, there is no error
		}
		return c, nil
	}
	return nil, fetch.Mismatch.Errorf("%s: the keyring has no key %X, which signed the file", source, reversed(s.number))
}

// reversed returns the number of a key in the order in which minisign prints
// it.
func reversed(number string) []byte {
	b := []byte(number)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return b
}

// A shortCheck verifies a signature of minisign or signify.
type shortCheck struct {
	signature shortSignature
	key       ed25519.PublicKey
	source    string
	digest    hash.Hash    // nil if the file must be in memory
	file      bytes.Buffer // the file, if digest is nil
	tooLarge  bool
}

func (c *shortCheck) Write(p []byte) (int, error) {
	switch {
	case c.digest != nil:
		c.digest.Write(p)
	case c.tooLarge:
	case c.file.Len()+len(p) > maxMemory:
		c.tooLarge, c.file = true, bytes.Buffer{}
	default:
		c.file.Write(p)
	}
	return len(p), nil
}

func (c *shortCheck) Reset() {
	c.tooLarge = false
	c.file.Reset()
	if c.digest != nil {
		c.digest.Reset()
	}
}

func (c *shortCheck) Verify() error {
	signed := c.file.Bytes()
	switch {
	case c.tooLarge:
		return fetch.TooLarge.Errorf("%s signs the complete file, which must not be longer than %d bytes: sign a file with its digest",
			c.source, maxMemory)
	case c.digest != nil:
		signed = c.digest.Sum(nil)
	}
	if !ed25519.Verify(c.key, signed, c.signature.value) {
		return fetch.Mismatch.Errorf("the signature %s is not of this file: wrong signature", c.source)
	}
	return nil
}

func (c *shortCheck) String() string {
	text := fmt.Sprintf("signature %s by the key %X", c.source, reversed(c.signature.number))
	if c.signature.comment != "" {
		text += " (" + c.signature.comment + ")"
	}
	return text
}
