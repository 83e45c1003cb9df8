package record

import (
	"bytes"
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tempfile"
)

// A Spool stores the bytes of a message until its record is written. It is used
// by one goroutine at a time.
type Spool interface {
	io.Writer
	Size() int64                        // number of bytes
	Reader() (*io.SectionReader, error) // returns a reader of all bytes; Free closes it
	Free()                              // removes the bytes; the Spool can then be used again
}

// Spool returns an empty Spool. The caller must call its method Free.
func (o *Options) Spool() Spool {
	if o.NewSpool != nil {
		return o.NewSpool()
	}
	return &fileSpool{dir: o.TempDir}
}

// maxInMemory is the number of bytes that a fileSpool stores in memory.
const maxInMemory = 64 << 10

// A fileSpool is a Spool that stores a large message in a temporary file in dir.
type fileSpool struct {
	dir  string
	mem  []byte
	file *tempfile.File // nil if the bytes are in mem
	size int64
}

// Write implements io.Writer.
func (s *fileSpool) Write(p []byte) (int, error) {
	if s.file == nil && len(s.mem)+len(p) > maxInMemory {
		f, err := tempfile.Create(s.dir, ".fetch-warc-*")
		if err != nil {
			return 0, fetch.LocalError(err)
		}
		s.file = &f
		if _, err := f.Write(s.mem); err != nil {
			return 0, fetch.LocalError(err)
		}
		s.mem = nil
	}
	s.size += int64(len(p))
	if s.file == nil {
		s.mem = append(s.mem, p...)
		return len(p), nil
	}
	n, err := s.file.Write(p)
	return n, fetch.LocalError(err)
}

// Size implements Spool.
func (s *fileSpool) Size() int64 { return s.size }

// Reader implements Spool.
func (s *fileSpool) Reader() (*io.SectionReader, error) {
	if s.file != nil {
		return io.NewSectionReader(s.file, 0, s.size), nil
	}
	return io.NewSectionReader(bytes.NewReader(s.mem), 0, s.size), nil
}

// Free implements Spool.
func (s *fileSpool) Free() {
	if s.file != nil {
		s.file.Close()
	}
	*s = fileSpool{dir: s.dir}
}
