package store

import (
	"context"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// minAhead is the size of the first range that a stream requests, in bytes.
// Most headers and small records are shorter.
const minAhead = 64 << 10

// MaxRange is the maximum size in bytes of a range of an object that is read
// with one request.
const MaxRange = 8 << 20

// A stream reads a File sequentially. It sends one request for each range, so
// the size of the ranges grows up to MaxRange. A seek within the last range
// causes no request.
type stream struct {
	f      File
	buffer []byte // bytes of f from the offset start
	start  int64
	pos    int64
	ahead  int // size of the next range to request
}

// Reader returns a reader that reads f sequentially in large ranges. It must
// not be used concurrently.
func Reader(f File) io.ReadSeeker {
	if local, ok := f.(*folderFile); ok {
		return io.NewSectionReader(local, 0, local.Size())
	}
	return &stream{f: f}
}

func (s *stream) Read(p []byte) (int, error) {
	if s.pos >= s.f.Size() {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	if end := s.start + int64(len(s.buffer)); s.pos < s.start || s.pos >= end {
		if s.pos == end && len(s.buffer) > 0 {
			s.ahead = min(4*s.ahead, MaxRange)
		} else {
			s.ahead = minAhead
		}
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.buffer[s.pos-s.start:])
	s.pos += int64(n)
	return n, nil
}

// fill requests the range at the current position and reads it into the buffer.
func (s *stream) fill() error {
	n := int(min(int64(s.ahead), s.f.Size()-s.pos))
	if cap(s.buffer) < n {
		s.buffer = make([]byte, n)
	}
	s.buffer, s.start = s.buffer[:n], s.pos
	m, err := s.f.ReadAt(s.buffer, s.pos)
	s.buffer = s.buffer[:m]
	if m > 0 {
		return nil
	}
	if err == nil || err == io.EOF {
		err = fetch.Truncated.With(io.ErrUnexpectedEOF)
	}
	return err
}

func (s *stream) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += s.pos
	case io.SeekEnd:
		offset += s.f.Size()
	}
	if offset < 0 {
		return 0, fetch.Internal.Errorf("store: seek to a negative position")
	}
	s.pos = offset
	return offset, nil
}

// indexes is the prefix of the object names of indexes.
const indexes = "index/"

// IndexName returns the object name of the CDXJ index of the WARC file named
// file. An index can be deleted, because it can be created again from the WARC
// file.
func IndexName(file string) string { return indexes + file + ".cdxj" }

// IsIndex reports whether name is the object name of an index.
func IsIndex(name string) bool {
	return strings.HasPrefix(name, indexes) && strings.HasSuffix(name, ".cdxj")
}

// FS returns a file system that contains the objects of a Store, but no
// directories. Its files implement io.ReaderAt and io.Seeker. If ctx is
// canceled, all operations fail.
func FS(ctx context.Context, s Store) fs.FS { return fileSystem{ctx, s} }

type fileSystem struct {
	ctx   context.Context
	store Store
}

func (x fileSystem) Open(name string) (fs.File, error) {
	f, err := x.store.Open(x.ctx, name)
	if err != nil {
		return nil, err
	}
	return &openFile{File: f, in: Reader(f), name: name}, nil
}

// An openFile is an open object of a Store that implements fs.File.
type openFile struct {
	File
	in   io.ReadSeeker
	name string
}

func (f *openFile) Read(p []byte) (int, error)                   { return f.in.Read(p) }
func (f *openFile) Seek(offset int64, whence int) (int64, error) { return f.in.Seek(offset, whence) }
func (f *openFile) Stat() (fs.FileInfo, error)                   { return fileInfo{f}, nil }

// fileInfo describes an openFile. The modification time is unknown and zero.
type fileInfo struct{ f *openFile }

func (i fileInfo) Name() string       { return path.Base(i.f.name) }
func (i fileInfo) Size() int64        { return i.f.Size() }
func (i fileInfo) Mode() fs.FileMode  { return 0o444 }
func (i fileInfo) ModTime() time.Time { return time.Time{} }
func (i fileInfo) IsDir() bool        { return false }
func (i fileInfo) Sys() any           { return nil }
