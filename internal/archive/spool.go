package archive

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"os"

	"github.com/anyurl/fetch/internal/tree"
	"github.com/anyurl/fetch/save"
)

// A Spool holds the bytes of a body until they are part of the archive: in
// memory while they are few, then in a file that has no name in the tree. It is
// used by one goroutine at a time. Free ends it.
type Spool struct {
	a     *Archive
	label string // of its file
	mem   []byte
	taken int64             // of the memory
	file  *tree.File        // nil: all is in mem
	hash  hash.Hash         // of file
	part  *save.File        // in place of file, until Finish
	known [sha256.Size]byte // the digest of a part that is finished
	given bool              // file is another's now
	open  []*os.File        // its readers
	size  int64
}

// MaxInMemory is how many bytes one Spool holds in memory at most.
const MaxInMemory = 256 << 10

// Spool returns an empty Spool. The label names its file: that of an object
// which goes to the tree is Label of its key.
func (a *Archive) Spool(label string) *Spool { return &Spool{a: a, label: label} }

// Size returns how many bytes s holds.
func (s *Spool) Size() int64 { return s.size }

// Write appends p.
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
	s.forget()
	return s.write(p)
}

// ReadFrom reads r to its end: into memory without a copy, as long as there is
// room.
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

// lookEach is how many bytes are written to the disk before its space is
// checked again.
const lookEach = 8 << 20

func (s *Spool) write(p []byte) (int, error) {
	if (s.size-int64(len(p)))/lookEach != s.size/lookEach {
		if err := s.a.Space(); err != nil {
			return 0, err
		}
	}
	if s.part != nil {
		n, err := s.part.Write(p)
		return n, restart(err)
	}
	n, err := s.file.Write(p)
	s.hash.Write(p[:n])
	return n, err
}

// Grow makes room for n bytes in all, or reports false if the memory has none.
func (s *Spool) Grow(n int) bool {
	if n <= cap(s.mem) {
		return true
	}
	if n > MaxInMemory {
		return false
	}
	grown := max(2*cap(s.mem), n, 2<<10)
	if !s.a.memory.Reserve(int64(grown) - s.taken) {
		return false
	}
	s.taken = int64(grown)
	s.mem = append(make([]byte, 0, grown), s.mem...)
	return true
}

// Reader returns what was written, from its beginning. Free closes it.
func (s *Spool) Reader() (io.ReadSeeker, error) {
	if s.file == nil {
		return bytes.NewReader(s.mem), nil
	}
	f, err := s.file.Open()
	if err != nil {
		return nil, err
	}
	s.open = append(s.open, f)
	return f, nil
}

// Sum returns the SHA-256 of what was written.
func (s *Spool) Sum() (sum [sha256.Size]byte) {
	switch {
	case s.file == nil:
		return sha256.Sum256(s.mem)
	case s.hash == nil:
		return s.known
	}
	s.hash.Sum(sum[:0])
	return sum
}

// Finish ends a body that is complete. One that continued a part is a file like
// others then.
func (s *Spool) Finish() (err error) {
	if s.part == nil {
		return nil
	}
	p := s.part
	s.part = nil
	copy(s.known[:], p.Sum())
	s.file, err = s.a.store.Adopt(p)
	s.a.parts.Delete(s.label)
	return err
}

// toFile moves what s holds into a file of the tree, which is the caller's. s
// can be read until that is committed.
func (s *Spool) toFile() (*tree.File, error) {
	if s.file != nil {
		s.given = true
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

// Free gives back what s holds. It is empty then.
func (s *Spool) Free() {
	for _, f := range s.open {
		f.Close()
	}
	if s.file != nil && !s.given {
		s.file.Discard()
	}
	if s.part != nil {
		s.part.Close() // it stays for another visit
	}
	s.forget()
	*s = Spool{a: s.a, label: s.label}
}

func (s *Spool) forget() {
	s.a.memory.Free(s.taken)
	s.mem, s.taken = nil, 0
}
