package signature

import (
	"bytes"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

const (
	clearPrefix  = "-----BEGIN PGP SIGNED MESSAGE-----"
	armorBegin   = "-----BEGIN PGP SIGNATURE-----"
	armorEnd     = "-----END PGP SIGNATURE-----"
	maxHashLines = 10
)

// Open verifies a text that contains its own signature: a text with the
// cleartext signature of OpenPGP (RFC 9580 section 7), or a file of signify -e. It
// returns the signed text without the signature, and describes the signature.
// Text outside of the signed part is not returned. The error has the Fault
// fetch.Mismatch if the text has no valid signature by a key of the keyring.
func (k *Keyring) Open(text []byte, source string) (signed []byte, by string, err error) {
	var sig, hashed []byte
	switch {
	case bytes.HasPrefix(text, []byte(clearPrefix)):
		var ok bool
		if signed, hashed, sig, ok = splitCleartext(string(text)); !ok {
			return nil, "", fetch.Mismatch.Errorf("%s has a malformed signature", source)
		}
	case isShort(text):
		end := bytes.IndexByte(text, '\n') + 1
		next := bytes.IndexByte(text[end:], '\n') + 1
		sig, signed = text[:end+next], text[end+next:]
		hashed = signed
	default:
		return nil, "", fetch.Mismatch.Errorf("%s has no signature", source)
	}
	c, err := k.Check(sig, source)
	if err != nil {
		return nil, "", err
	}
	c.Write(hashed)
	if err := c.Verify(); err != nil {
		return nil, "", err
	}
	return signed, c.String(), nil
}

// splitCleartext returns the text of a cleartext signature, the bytes that its
// digest covers, and the armored signature. White space at the end of a line is
// not covered, so it is removed.
func splitCleartext(text string) (signed, hashed, armored []byte, ok bool) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	_, text, _ = strings.Cut(text, "\n")
	for n := 0; ; n++ { // the fields Hash and SaltedHash, and an empty line
		line, rest, found := strings.Cut(text, "\n")
		if !found || n > maxHashLines {
			return nil, nil, nil, false
		}
		text = rest
		if strings.TrimRight(line, " \t") == "" {
			break
		}
		if !strings.Contains(line, ": ") {
			return nil, nil, nil, false
		}
	}
	i := strings.Index("\n"+text, "\n"+armorBegin)
	if i < 0 {
		return nil, nil, nil, false
	}
	end := strings.Index(text[i:], armorEnd)
	if end < 0 {
		return nil, nil, nil, false
	}
	var a, b bytes.Buffer
	for n, line := range strings.Split(strings.TrimSuffix(text[:i], "\n"), "\n") {
		line = strings.TrimRight(strings.TrimPrefix(line, "- "), " \t\r")
		if n > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(line)
		a.WriteString(line + "\n")
	}
	return a.Bytes(), b.Bytes(), []byte(text[i:i+end] + armorEnd + "\n"), true
}
