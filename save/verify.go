package save

import (
	"errors"
	"hash"
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/parallel"
	"github.com/anyurl/fetch/verify"
)

// Verify adds a check of the complete file, which Commit carries out like those
// of Options.Verify. Verify may be called at any time before Commit. If the File
// already has bytes, Commit reads them again from the part file.
func (f *File) Verify(c verify.Check) {
	if f.state.Offset == 0 && f.keepBytes == 0 {
		f.checks = append(f.checks[:len(f.checks):len(f.checks)], c)
		return
	}
	f.late = append(f.late, c)
}

// Checks returns the checks of Options.Verify and the checks of [File.Verify].
func (f *File) Checks() []verify.Check {
	return append(f.checks[:len(f.checks):len(f.checks)], f.late...)
}

// hashed returns all values that receive the bytes in the part file.
func (f *File) hashed() hashes { return hashes{f.digest, f.checks} }

type hashes struct {
	digest hash.Hash // may be nil
	checks []verify.Check
}

// Write never returns an error.
func (h hashes) Write(p []byte) (int, error) {
	parallel.Write(p, h.all())
	return len(p), nil
}

// all returns the digest and the checks.
func (h hashes) all() []io.Writer {
	all := make([]io.Writer, 0, 1+len(h.checks))
	if h.digest != nil {
		all = append(all, h.digest)
	}
	for _, c := range h.checks {
		all = append(all, c)
	}
	return all
}

// writeHashed writes p to the part file, the digest and the checks at the same
// time. If it cannot write all bytes, it sets rehash.
func (f *File) writeHashed(p []byte) (n int, err error) {
	if f.digest == nil && len(f.checks) == 0 {
		return f.h.Write(p)
	}
	file := writerFunc(func(p []byte) (int, error) {
		n, err = f.h.Write(p)
		return n, err
	})
	parallel.Write(p, append(f.hashed().all(), file))
	f.rehash = f.rehash || n < len(p)
	return n, err
}

// hashAgain passes the bytes in the part file to the digest and the checks.
func (f *File) hashAgain() error {
	f.hashed().Reset()
	if _, err := f.h.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := io.CopyN(f.hashed(), f.h, f.state.Offset); err != nil {
		return err
	}
	f.rehash = false
	return nil
}

func (h hashes) Reset() {
	if h.digest != nil {
		h.digest.Reset()
	}
	for _, c := range h.checks {
		c.Reset()
	}
}

// verify carries out all checks. The part file must be complete.
func (f *File) verify() error {
	all := f.Checks()
	if len(all) > 0 && f.omitsBytes() {
		return fetch.Unsupported.Errorf("%s is only a part of the object, so it cannot be verified", f.path)
	}
	if len(f.late) > 0 {
		if _, err := f.h.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.Copy(hashes{checks: f.late}, f.h); err != nil {
			return err
		}
	}
	for _, c := range all {
		if err := c.Verify(); err != nil {
			return fetch.FaultOf(err).Errorf("%s: %w", f.path, err)
		}
	}
	return nil
}

// omitsBytes reports whether the first bytes of the object are not part of the
// File, or were not written to the checks.
func (f *File) omitsBytes() bool {
	return f.o.Offset > 0 && (f.device || f.final.Size == 0)
}

// VerifyRest adds a check of the complete file if s describes a body that is
// appended, and digest is not empty. The digest is Response.Digest. For a body
// from offset 0, the middleware wrap.Verify has the same task.
func (f *File) VerifyRest(s State, digest string) error {
	if digest == "" || s.Offset == 0 || f.device || f.o.Offset > 0 {
		return nil
	}
	d, err := verify.ParseDigest(digest)
	if err != nil {
		return err
	}
	f.Verify(d.Check("the response of the server"))
	return nil
}

// DiscardMismatch discards the bytes in the File if err has the Fault
// fetch.Mismatch, because they are wrong and must not be resumed. It returns
// err. The error is an error that was returned when the body was read.
func (f *File) DiscardMismatch(err error) error {
	if errors.Is(err, fetch.Mismatch) && f.state.Offset > 0 && !f.device {
		f.Abort()
	}
	return err
}
