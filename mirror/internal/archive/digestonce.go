package archive

import (
	"crypto/sha256"
	"hash"
	"io"
	"os"
)

// A digestingFile computes the SHA-256 digest of a file while another part of
// the program reads the file. After damage, a reader can seek back, and no byte
// is counted twice.
type digestingFile struct {
	*os.File
	sum    hash.Hash
	at     int64 // position of the next Read
	hashed int64 // number of bytes in sum
}

func newDigestingFile(f *os.File) *digestingFile { return &digestingFile{File: f, sum: sha256.New()} }

func (d *digestingFile) Read(p []byte) (int, error) {
	n, err := d.File.Read(p)
	if known := d.hashed - d.at; 0 <= known && known < int64(n) {
		d.sum.Write(p[known:n])
		d.hashed = d.at + int64(n)
	}
	d.at += int64(n)
	return n, err
}

func (d *digestingFile) Seek(offset int64, whence int) (int64, error) {
	at, err := d.File.Seek(offset, whence)
	if err == nil {
		d.at = at
	}
	return at, err
}

// WriteTo hides the method of os.File, which does not call Read.
func (d *digestingFile) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{d})
}

// digest returns the digest of the complete file. It reads the bytes that have
// not been read.
func (d *digestingFile) digest() (digest [32]byte, err error) {
	if _, err = d.Seek(d.hashed, io.SeekStart); err == nil {
		_, err = d.WriteTo(io.Discard)
	}
	d.sum.Sum(digest[:0])
	return digest, err
}
