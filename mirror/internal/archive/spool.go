package archive

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"os"

	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/save"
)

// A Spool is a buffer for a body until the body is committed. It stores a small
// body in memory and a large body in a temporary file. A Spool is not safe for
// concurrent use. The caller must call Free.
type Spool struct {
	a          *Archive
	label      string // name of the temporary file
	mem        []byte
	reserved   int64             // bytes reserved in Memory
	file       *tree.File        // temporary file, or nil if the body is in mem or part
	hash       hash.Hash         // hash of the bytes in file
	part       *save.File        // partial file that contains the body until Finish, or nil
	sum        [sha256.Size]byte // digest of the body in a finished part
	handedOver bool              // if true, the caller of toFile owns file
	open       []*os.File        // open readers of file
	size       int64             // total bytes
}

// MaxInMemory is the maximum number of bytes that a Spool stores in memory.
const MaxInMemory = 256 << 10

// Spool returns an empty Spool. The label is the name of its temporary file. If
// the body becomes a file in the tree, the caller must pass the result of the
// function Label for the key of the URL.
func (a *Archive) Spool(label string) *Spool { return &Spool{a: a, label: label} }

// Size returns the number of bytes in the Spool. After SpoolPart, the number
// includes the bytes that the partial file already contained.
func (s *Spool) Size() int64 { return s.size }

// Write appends p to the Spool.
func (s *Spool) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	if s.file != nil || s.part != nil {
		return s.write(p)
	}
	if s.Grow(len(s.mem) + len(p)) {
		s.mem = append(s.mem, p...)
		return len(p), nil
	}
	f, err := s.toFile()
	if err != nil {
		return 0, err
	}
	s.file, s.hash = f, sha256.New()
	s.hash.Write(s.mem)
	s.freeMemory()
	return s.write(p)
}

// ReadFrom appends all bytes of r to the Spool. While the bytes fit in memory,
// ReadFrom reads directly into the buffer.
func (s *Spool) ReadFrom(r io.Reader) (n int64, err error) {
	for s.file == nil && s.part == nil && s.Grow(len(s.mem)+1) {
		got, err := r.Read(s.mem[len(s.mem):cap(s.mem)])
		s.mem = s.mem[:len(s.mem)+got]
		s.size += int64(got)
		n += int64(got)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
	more, err := io.Copy(struct{ io.Writer }{s}, r)
	return n + more, err
}

// spaceCheckInterval is the number of bytes that are written to disk between
// two calls of CheckSpace.
const spaceCheckInterval = 8 << 20

func (s *Spool) write(p []byte) (int, error) {
	if (s.size-int64(len(p)))/spaceCheckInterval != s.size/spaceCheckInterval {
		if err := s.a.CheckSpace(); err != nil {
			return 0, err
		}
	}
	if s.part != nil {
		n, err := s.part.Write(p)
		return n, restartError(err)
	}
	n, err := s.file.Write(p)
	s.hash.Write(p[:n])
	return n, err
}

// Grow increases the capacity of the memory buffer to n bytes. It returns false
// if n exceeds MaxInMemory or the limit of Memory.
func (s *Spool) Grow(n int) bool {
	if n <= cap(s.mem) {
		return true
	}
	if n > MaxInMemory {
		return false
	}
	grown := max(2*cap(s.mem), n, 2<<10)
	if !s.a.memory.Reserve(int64(grown) - s.reserved) {
		return false
	}
	s.reserved = int64(grown)
	s.mem = append(make([]byte, 0, grown), s.mem...)
	return true
}

// Reader returns a reader of the body from the beginning. Free closes the
// reader.
func (s *Spool) Reader() (*io.SectionReader, error) {
	if s.file == nil {
		return io.NewSectionReader(bytes.NewReader(s.mem), 0, int64(len(s.mem))), nil
	}
	f, err := s.file.Open()
	if err != nil {
		return nil, err
	}
	s.open = append(s.open, f)
	return io.NewSectionReader(f, 0, s.size), nil
}

// Sum returns the SHA-256 digest of the body.
func (s *Spool) Sum() (sum [sha256.Size]byte) {
	switch {
	case s.file == nil:
		return sha256.Sum256(s.mem)
	case s.hash == nil:
		return s.sum
	}
	s.hash.Sum(sum[:0])
	return sum
}

// Finish marks the body as complete. It converts a partial file to a temporary
// file that Commit can move to the tree.
func (s *Spool) Finish() (err error) {
	if s.part == nil {
		return nil
	}
	p := s.part
	s.part = nil
	copy(s.sum[:], p.Sum())
	s.file, err = s.a.store.Adopt(p)
	s.a.parts.Delete(s.label)
	return err
}

// toFile returns a file that contains the body. The caller owns the file. The
// body can be read from the Spool until the file is committed or discarded.
func (s *Spool) toFile() (*tree.File, error) {
	if s.file != nil {
		s.handedOver = true
		return s.file, nil
	}
	f, err := s.a.store.Create(s.label)
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(s.mem); err != nil {
		return nil, errors.Join(err, f.Discard())
	}
	return f, nil
}

// Free discards the body and releases its memory. It keeps a partial file for a
// later visit. Then the Spool is empty and can be reused.
func (s *Spool) Free() {
	for _, f := range s.open {
		f.Close()
	}
	if s.file != nil && !s.handedOver {
		s.file.Discard()
	}
	if s.part != nil {
		s.part.Close()
	}
	s.freeMemory()
	*s = Spool{a: s.a, label: s.label}
}

func (s *Spool) freeMemory() {
	s.a.memory.Free(s.reserved)
	s.mem, s.reserved = nil, 0
}
