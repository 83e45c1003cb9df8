package main

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// checksum is a digest of SHA-256, or nil.
type checksum []byte

func (c *checksum) String() string {
	if *c == nil {
		return ""
	}
	return "sha256=" + hex.EncodeToString(*c)
}

func (c *checksum) Set(text string) error {
	digits, ok := strings.CutPrefix(text, "sha256=")
	b, err := hex.DecodeString(digits)
	if !ok || err != nil || len(b) != sha256.Size {
		return fetch.Usage.Errorf("not sha256= and 64 hexadecimal digits: %q", text)
	}
	*c = b
	return nil
}

func (*checksum) Type() string { return "sha256=HEX" }

// sums reports whether the digest of a body is wanted.
func (f *flags) sums() bool { return f.checksum != nil || f.meta != "" }

// provable refuses --checksum where what is written is not the body.
func (f *flags) provable() error {
	if f.checksum != nil && (f.include || f.head) {
		return fetch.Usage.Errorf("--checksum is of the body alone: not with -i or -I")
	}
	return nil
}

// verify holds what out has against --checksum, before it appears.
func (f *flags) verify(out sink) error {
	if f.checksum == nil {
		return nil
	}
	got := out.Sum()
	switch {
	case got == nil:
		return fetch.Unsupported.Errorf("the checksum of a part cannot be verified")
	case string(got) != string(f.checksum):
		return fetch.Mismatch.Errorf("the body has sha256 %x, not %x", got, f.checksum)
	}
	return nil
}
