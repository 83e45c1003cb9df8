package mirror

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

// spool holds bytes that are on their way: in memory while they are few, then
// in a file that has no name in the tree. It belongs to one goroutine at a time.
type spool struct {
	m     *mirror
	label string // of its file
	mem   []byte
	taken int64             // of the budget
	file  *tree.File        // nil: all is in mem
	hash  hash.Hash         // of file
	part  *save.File        // in place of file, until it is whole
	known [sha256.Size]byte // of what was a part
	given bool              // file is another's now
	open  []*os.File        // its readers
	size  int64
}

// maxInMemory is what one spool holds in memory, in bytes.
const maxInMemory = 256 << 10

func (s *spool) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	if s.file != nil || s.part != nil {
		return s.write(p)
	}
	if s.room(len(s.mem) + len(p)) {
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
func (s *spool) ReadFrom(r io.Reader) (n int64, err error) {
	for s.file == nil && s.part == nil && s.room(len(s.mem)+1) {
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

// lookEach is how much is written to the disk before its space is looked at
// again, in bytes.
const lookEach = 8 << 20

func (s *spool) write(p []byte) (int, error) {
	if (s.size-int64(len(p)))/lookEach != s.size/lookEach {
		if err := s.m.space(); err != nil {
			return 0, err
		}
	}
	if s.part != nil {
		n, err := s.part.Write(p)
		return n, noPart(err)
	}
	n, err := s.file.Write(p)
	s.hash.Write(p[:n])
	return n, err
}

// room makes sure of memory for n bytes in all.
func (s *spool) room(n int) bool {
	if n <= cap(s.mem) {
		return true
	}
	if n > maxInMemory {
		return false
	}
	grown := max(2*cap(s.mem), n, 2<<10)
	if !s.m.memory.take(int64(grown) - s.taken) {
		return false
	}
	s.taken = int64(grown)
	s.mem = append(make([]byte, 0, grown), s.mem...)
	return true
}

// read returns what was written, from its beginning; free closes it.
func (s *spool) read() (io.ReadSeeker, error) {
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

// sum is the SHA-256 of what was written.
func (s *spool) sum() (sum [sha256.Size]byte) {
	switch {
	case s.file == nil:
		return sha256.Sum256(s.mem)
	case s.hash == nil:
		return s.known
	}
	s.hash.Sum(sum[:0])
	return sum
}

// toFile moves what s holds into a file of the tree, which is the caller's. As
// long as that is not committed s can still be read.
func (s *spool) toFile() (*tree.File, error) {
	if s.file != nil {
		s.given = true
		return s.file, nil
	}
	f, err := s.m.store.Create(s.label)
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(s.mem); err != nil {
		return nil, errors.Join(err, f.Discard())
	}
	return f, nil
}

// free ends s, which is empty then.
func (s *spool) free() {
	for _, f := range s.open {
		f.Close()
	}
	if s.file != nil && !s.given {
		s.file.Discard()
	}
	if s.part != nil {
		s.part.Close() // what there is of it stays
	}
	s.forget()
	*s = spool{m: s.m, label: s.label}
}

func (s *spool) forget() {
	s.m.memory.give(s.taken)
	s.mem, s.taken = nil, 0
}
