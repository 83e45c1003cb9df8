// Package verify compares the bytes of an object with digests from other
// sources: the command line, a file such as SHA256SUMS, or header fields of a
// server. Package [github.com/anyurl/fetch/verify/signature] verifies
// signatures. Both return values of type [Check], for save.Options.Verify:
//
//	d, err := verify.ParseDigest("sha256=" + hex)
//	if err != nil {
//		return err
//	}
//	o := save.Options{Verify: []verify.Check{d.Check("the release page")}}
//	_, err = save.Fetch(ctx, client, req, "file.iso", o)
//
// The file then gets its name only if its bytes have the digest.
//
// A digest detects damage. It proves the origin of the bytes only if its own
// source is trusted, and if [Digest.Weak] returns false.
package verify

import "io"

// A Check receives all bytes of an object in order and then verifies them. It
// is not safe for concurrent use.
type Check interface {
	io.Writer // never returns an error

	// Reset discards all bytes, so that the object can be written again.
	Reset()

	// Verify returns nil if the bytes are right. It returns an error with the
	// Fault fetch.Mismatch if they are wrong. It must be called once, after
	// the last byte.
	Verify() error

	// String describes the result for the user, such as "sha256 of SHA256SUMS".
	// It must be called after Verify has returned nil.
	String() string
}

// Weigh returns a note for the user if no check proves the origin of the bytes,
// because all checks compare a weak digest. Otherwise it returns "".
func Weigh(checks []Check) string {
	name := ""
	for _, c := range checks {
		d, ok := c.(*digestCheck)
		if !ok || !d.digest.Weak() {
			return ""
		}
		name = d.digest.Algorithm
	}
	if name == "" {
		return ""
	}
	return name + " detects damage, but does not prove the origin of the file"
}
