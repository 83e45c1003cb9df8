package main

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// sums reports whether the digest of a body is wanted.
func (f *flags) sums() bool { return f.checksum != "" || f.meta != "" }

// verify holds what out has against --checksum, before it appears.
func (f *flags) verify(out sink) error {
	if f.checksum == "" {
		return nil
	}
	want, err := f.digest()
	if err != nil {
		return err
	}
	got := out.Sum()
	switch {
	case got == nil:
		return fetch.Unsupported.Errorf("the checksum of a part cannot be verified")
	case string(got) != string(want):
		return fetch.Mismatch.Errorf("the body has sha256 %x, not %x", got, want)
	}
	return nil
}

// digest is what --checksum promises.
func (f *flags) digest() ([]byte, error) {
	text, ok := strings.CutPrefix(f.checksum, "sha256=")
	b, err := hex.DecodeString(text)
	if !ok || err != nil || len(b) != sha256.Size {
		return nil, fetch.Usage.Errorf("--checksum wants sha256= and 64 hexadecimal digits")
	}
	return b, nil
}
