package sqlite

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// ErrSchema means that the pages of the schema do not form a small tree.
var ErrSchema = errors.New("the pages of the schema are damaged")

// maxSchemaPages is the maximum number of children of the root page of the
// schema.
const maxSchemaPages = 100

// interiorPage is the type of a page of a table that has children.
const interiorPage = 5

// CheckSchema returns [ErrSchema] if SQLite could need unbounded time and memory
// to read the schema of the database at path, which SQLite does before any
// check. This is the case if a page is a child of many pages. CheckSchema
// therefore accepts a root page and its children, but no deeper tree. It reads
// the database and the frames of the write-ahead log up to the first one that
// SQLite rejects. It ignores other damage, which SQLite reports.
func CheckSchema(path string) error {
	var sources []pageSource
	for _, of := range []struct {
		name string
		open func(*os.File) (pageSource, bool)
	}{{path, newDatabaseSource}, {path + "-wal", newLogSource}} {
		f, err := os.Open(of.name)
		if err != nil {
			continue
		}
		defer f.Close()
		if s, ok := of.open(f); ok {
			sources = append(sources, s)
		}
	}
	children := map[uint32]bool{}
	for _, s := range sources {
		if err := s.eachVersion(map[uint32]bool{1: true}, func(page []byte) error { return addChildren(page, children) }); err != nil {
			return err
		}
	}
	for _, s := range sources {
		err := s.eachVersion(children, func(page []byte) error {
			if page[0] == interiorPage {
				return ErrSchema
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// addChildren adds the children of a version of page 1 to the set.
func addChildren(page []byte, children map[uint32]bool) error {
	const header = 100 // of the file
	if page[header] != interiorPage {
		return nil
	}
	cells := int(binary.BigEndian.Uint16(page[header+3:]))
	if cells >= maxSchemaPages {
		return ErrSchema
	}
	children[binary.BigEndian.Uint32(page[header+8:])] = true
	for i := range cells {
		at := int(binary.BigEndian.Uint16(page[header+12+2*i:]))
		if at+4 > len(page) {
			return ErrSchema
		}
		children[binary.BigEndian.Uint32(page[at:])] = true
	}
	if children[1] || len(children) > maxSchemaPages {
		return ErrSchema
	}
	return nil
}

// A pageSource is a file with pages: a database, or a write-ahead log.
type pageSource struct {
	file  *os.File
	size  int64 // of a page
	isLog bool
	salt  [8]byte // of the log
}

// newDatabaseSource reads the page size of a database. It returns false if SQLite
// does not accept the file.
func newDatabaseSource(f *os.File) (pageSource, bool) {
	var header [100]byte
	if _, err := f.ReadAt(header[:], 0); err != nil {
		return pageSource{}, false
	}
	size := int64(binary.BigEndian.Uint16(header[16:]))
	if size == 1 {
		size = 64 << 10
	}
	return pageSource{file: f, size: size}, isPageSize(size)
}

// newLogSource is like newDatabaseSource for a write-ahead log.
func newLogSource(f *os.File) (pageSource, bool) {
	var header [logHeader]byte
	if _, err := f.ReadAt(header[:], 0); err != nil {
		return pageSource{}, false
	}
	size := int64(binary.BigEndian.Uint32(header[8:]))
	return pageSource{file: f, size: size, isLog: true, salt: [8]byte(header[16:24])}, isPageSize(size)
}

func isPageSize(n int64) bool { return n >= 512 && n <= 64<<10 && n&(n-1) == 0 }

// Sizes of the header of a write-ahead log and of a frame, in bytes.
const (
	logHeader   = 32
	frameHeader = 24
)

// eachVersion calls f with each version of the pages with the given numbers. A
// database has one version, and a log can have many. A frame without a number or
// with another salt ends the log. A log that is a sparse file would otherwise
// seem to have frames without end.
func (s *pageSource) eachVersion(numbers map[uint32]bool, f func(page []byte) error) error {
	page := make([]byte, s.size)
	if !s.isLog {
		for n := range numbers {
			if _, err := s.file.ReadAt(page, int64(n-1)*s.size); err == nil {
				if err := f(page); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for at := int64(logHeader); ; at += frameHeader + s.size {
		var header [frameHeader]byte
		if _, err := s.file.ReadAt(header[:], at); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		number := binary.BigEndian.Uint32(header[:])
		if number == 0 || [8]byte(header[8:16]) != s.salt {
			return nil
		}
		if !numbers[number] {
			continue
		}
		if _, err := s.file.ReadAt(page, at+frameHeader); err != nil {
			return nil // an incomplete frame
		}
		if err := f(page); err != nil {
			return err
		}
	}
}
