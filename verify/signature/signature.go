// Package signature verifies signatures of OpenPGP (RFC 9580), minisign and
// signify. The user names the files of the trusted keys. No key is ever
// downloaded.
package signature

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"strings"

	openpgp "github.com/ProtonMail/go-crypto/openpgp/v2"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/verify"
)

const (
	MaxKeys      = 64 << 20 // maximum size of a file with keys in bytes
	MaxSignature = 1 << 20  // maximum size of a signature in bytes
)

// A Keyring contains the public keys that the user trusts. The zero Keyring is
// empty. It is safe for concurrent use after the last call of Add.
type Keyring struct {
	short   []shortKey
	openpgp openpgp.EntityList
}

// A shortKey is a public key of minisign or signify, which have the same
// format.
type shortKey struct {
	number string // eight bytes that identify the key
	key    ed25519.PublicKey
}

// Add adds the keys of a file: a public key of minisign or signify, or a
// keyring of OpenPGP, binary or armored. The source is the name of the file for
// errors. The error has the Fault fetch.Usage if the file has no keys.
func (k *Keyring) Add(text []byte, source string) error {
	if len(text) > MaxKeys {
		return fetch.TooLarge.Errorf("%s is longer than %d bytes", source, MaxKeys)
	}
	if number, key, ok := parseKey(text); ok {
		k.short = append(k.short, shortKey{number, key})
		return nil
	}
	found, err := readOpenPGP(text)
	if err != nil || len(found) == 0 {
		advice := ""
		if bytes.Contains(text[:min(len(text), 64)], []byte("KBXf")) {
			advice = ": it is a keybox of GnuPG, whose keys gpg can export to a file"
		}
		return fetch.Usage.Errorf("%s contains no public keys of OpenPGP, minisign or signify%s", source, advice)
	}
	k.openpgp = append(k.openpgp, found...)
	return nil
}

// Check returns a Check for the file that the signature signs. The source is
// the name or the URL of the signature. The error has the Fault fetch.Mismatch
// if the signature is malformed, or if the keyring has no key for it.
func (k *Keyring) Check(text []byte, source string) (verify.Check, error) {
	if len(text) > MaxSignature {
		return nil, fetch.TooLarge.Errorf("%s is longer than %d bytes", source, MaxSignature)
	}
	if isShort(text) {
		return k.checkShort(text, source)
	}
	return k.checkOpenPGP(text, source)
}

// commentPrefix starts the first line of the files of minisign and signify.
const commentPrefix = "untrusted comment:"

func isShort(text []byte) bool { return bytes.HasPrefix(text, []byte(commentPrefix)) }

// parseKey parses a public key of minisign or signify, with or without its
// comment.
func parseKey(text []byte) (number string, key ed25519.PublicKey, ok bool) {
	if len(text) > 4096 {
		return "", nil, false
	}
	lines := strings.Split(strings.TrimRight(string(text), "\r\n"), "\n")
	if len(lines) == 2 && isShort(text) {
		lines = lines[1:]
	}
	if len(lines) != 1 {
		return "", nil, false
	}
	b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(lines[0]))
	if err != nil || len(b) != 2+8+ed25519.PublicKeySize || string(b[:2]) != "Ed" {
		return "", nil, false
	}
	return string(b[2:10]), ed25519.PublicKey(b[10:]), true
}
