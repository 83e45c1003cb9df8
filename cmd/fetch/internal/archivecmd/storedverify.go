package archivecmd

import (
	"context"
	"crypto/sha256"
	"hash"
	"io"
	"iter"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/store"
	"github.com/anyurl/fetch/warc"
)

// verifyStore reads all WARC files in a store. It checks their records, and
// compares their bytes with the digests that the store has recorded.
func (c *verifyCommand) verifyStore(ctx context.Context) error {
	s, err := clientflags.StoreAt(c.store).Open()
	if err != nil {
		return err
	}
	v := &storeVerifier{ctx: ctx, store: s}
	if v.names, _, err = clientflags.StoredFiles(ctx, s); err != nil {
		return err
	}
	before := c.damage
	for f, err := range warc.VerifyReaders(v.files()) {
		if err == nil && v.err == nil {
			err = c.printFinding(f, f.Note, f.String())
		}
		if v.err != nil { // report the error of the store, which is the cause
			err = v.err
		}
		if err != nil {
			return err
		}
	}
	if v.err != nil {
		return v.err
	}
	for _, f := range v.findings {
		if err := c.printFinding(f, false, f.File+": "+f.Text); err != nil {
			return err
		}
	}
	return c.conclude(s.String(), before, nil)
}

// A storeVerifier reads the WARC files of a store.
type storeVerifier struct {
	ctx      context.Context
	store    store.Store
	names    []string
	findings []storeFinding
	err      error // error that ended the sequence of files
}

// A storeFinding describes an object whose bytes do not match its digest.
type storeFinding struct {
	File string `json:"file"`
	Text string `json:"text"`
}

// files returns the name and a reader of each WARC file. After an error, the
// sequence ends, and v.err is not nil.
func (v *storeVerifier) files() iter.Seq2[string, io.Reader] {
	return func(yield func(string, io.Reader) bool) {
		for _, name := range v.names {
			more, err := v.file(name, yield)
			if err != nil {
				v.err = err
			}
			if err != nil || !more {
				return
			}
		}
	}
}

// file passes a reader of the named WARC file to yield, and then compares the
// digest of the bytes.
func (v *storeVerifier) file(name string, yield func(string, io.Reader) bool) (more bool, err error) {
	o, err := v.store.Stat(v.ctx, name)
	if err != nil {
		return false, err
	}
	f, err := v.store.Open(v.ctx, name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	r := &digestReader{ReadSeeker: store.Reader(f), sum: sha256.New()}
	if !yield(name, r) {
		return false, nil
	}
	if r.err == nil { // read the bytes that were not read yet, as in a truncated file
		_, err = r.Seek(r.hashed, io.SeekStart)
		if err == nil {
			_, err = io.Copy(io.Discard, r)
		}
	}
	if r.err != nil {
		return false, r.err
	}
	if [sha256.Size]byte(r.sum.Sum(nil)) != o.SHA256 && o.SHA256 != [sha256.Size]byte{} {
		v.findings = append(v.findings, storeFinding{name, "the bytes do not match the SHA-256 digest in the metadata of the object"})
	}
	return true, err
}

// A digestReader hashes each byte when it is read for the first time. The
// caller must not skip bytes.
type digestReader struct {
	io.ReadSeeker
	sum    hash.Hash
	pos    int64
	hashed int64 // bytes in sum
	err    error // error of the store
}

func (r *digestReader) Read(p []byte) (int, error) {
	n, err := r.ReadSeeker.Read(p)
	if skip := r.hashed - r.pos; skip >= 0 && skip < int64(n) {
		r.sum.Write(p[skip:n])
		r.hashed = r.pos + int64(n)
	}
	r.pos += int64(n)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

func (r *digestReader) Seek(offset int64, whence int) (int64, error) {
	pos, err := r.ReadSeeker.Seek(offset, whence)
	if err != nil {
		return pos, fetch.Internal.With(err)
	}
	r.pos = pos
	return pos, nil
}
