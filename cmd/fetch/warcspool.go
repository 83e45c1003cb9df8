package main

import (
	"bytes"
	"io"
	"os"
)

// maxSpoolMemory is the number of bytes that a warcSpool stores in memory.
const maxSpoolMemory = 64 << 10

// A warcSpool stores a request or a response until its WARC record is written. It
// stores a large one in a temporary file in dir.
type warcSpool struct {
	dir  string
	mem  []byte
	file *os.File // nil if the bytes are in mem
	size int64
}

// Write appends p.
func (s *warcSpool) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	if s.file == nil {
		if len(s.mem)+len(p) <= maxSpoolMemory {
			s.mem = append(s.mem, p...)
			return len(p), nil
		}
		f, err := os.CreateTemp(s.dir, ".fetch-warc-*")
		if err != nil {
			return 0, localError(err)
		}
		s.file = f
		os.Remove(f.Name()) // some systems cannot remove an open file
		if _, err := f.Write(s.mem); err != nil {
			return 0, localError(err)
		}
		s.mem = nil
	}
	n, err := s.file.Write(p)
	return n, localError(err)
}

// Size returns the number of bytes.
func (s *warcSpool) Size() int64 { return s.size }

// Reader returns a reader of all bytes. It must not be used after Free.
func (s *warcSpool) Reader() (*io.SectionReader, error) {
	if s.file != nil {
		return io.NewSectionReader(s.file, 0, s.size), nil
	}
	return io.NewSectionReader(bytes.NewReader(s.mem), 0, s.size), nil
}

// Free discards the bytes and removes the temporary file.
func (s *warcSpool) Free() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name()) // fails if Write has removed the file
	}
	*s = warcSpool{dir: s.dir}
}
