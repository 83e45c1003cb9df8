package sqlite

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
)

// ErrSchema means that SQLite cannot read the schema in bounded time and memory.
var ErrSchema = errors.New("the pages of the schema are damaged")

// Limits of a schema. SQLite parses the text of each row, and needs up to 100 bytes
// of memory for one of them.
const (
	maxSchemaPages = 100       // children of the root page
	maxSchemaBytes = 256 << 10 // size of all rows
)

// Types of the pages of a table.
const (
	interiorPage = 5 // has children
	leafPage     = 13
)

// CheckSchema returns [ErrSchema] if SQLite could need unbounded time and memory
// to read the schema of the database at path, which SQLite does before any
// check. This is the case if a page is a child of many pages, or if many rows
// have the same overflow pages. CheckSchema therefore accepts a root page and its
// children, but no deeper tree, and rows of [maxSchemaBytes] in total without
// overflow pages.
//
// CheckSchema also returns ErrSchema if the database can have a table of
// statistics. SQLite reads all rows of such a table together with the schema.
//
// The parameter log is the path of the write-ahead log, or "" if SQLite does not
// read it. CheckSchema reads the frames of the log up to the first one that
// SQLite rejects. It ignores other damage, which SQLite reports.
func CheckSchema(path, log string) error {
	var sources []pageSource
	for name, open := range map[string]func(*os.File) (pageSource, bool){path: newDatabaseSource, log: newLogSource} {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		defer f.Close()
		if s, ok := open(f); ok {
			sources = append(sources, s)
		}
	}
	// SQLite reads the database with the page size of the log.
	if len(sources) == 2 && sources[0].size != sources[1].size {
		return ErrSchema
	}
	children, rows := map[uint32]bool{}, schemaRows{}
	for _, s := range sources {
		err := s.eachVersion(map[uint32]bool{1: true}, func(_ uint32, page []byte) error {
			if pageSize(page) != s.size { // SQLite reads both files with the page size in page 1
				return ErrSchema
			}
			if page[20] != 0 || page[59]&3 > 1 { // bytes reserved on each page, and an encoding other than UTF-8
				return ErrSchema
			}
			return errors.Join(addChildren(page, children), rows.add(1, page, fileHeader))
		})
		if err != nil {
			return err
		}
	}
	for _, s := range sources {
		err := s.eachVersion(children, func(n uint32, page []byte) error {
			if page[0] == interiorPage {
				return ErrSchema
			}
			return rows.add(n, page, 0)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// fileHeader is the size of the header of a database, with which page 1 begins.
const fileHeader = 100

// schemaRows has the total size of the rows in each leaf page, or of those in its
// largest version.
type schemaRows map[uint32]int

// statistics is the start of the names of tables that SQLite reads with the schema.
var statistics = []byte("sqlite_stat")

// add adds a version of the page n, whose content begins after header bytes. It
// returns ErrSchema if the rows of all pages are too large, or can be those of
// tables with statistics.
func (r schemaRows) add(n uint32, page []byte, header int) error {
	if page[header] != leafPage {
		return nil
	}
	if bytes.Contains(bytes.ToLower(page), statistics) {
		return ErrSchema
	}
	sum := 0
	for i := range int(binary.BigEndian.Uint16(page[header+3:])) {
		at := header + 8 + 2*i
		if at+2 > len(page) {
			return ErrSchema
		}
		size, err := rowSize(page, int(binary.BigEndian.Uint16(page[at:])))
		if err != nil {
			return err
		}
		if size > len(page)-35 { // the row has overflow pages
			return ErrSchema
		}
		sum += size
	}
	r[n] = max(r[n], sum)
	total := 0
	for _, size := range r {
		total += size
	}
	if total > maxSchemaBytes {
		return ErrSchema
	}
	return nil
}

// rowSize returns the size of the row at an offset of a page, which has at most
// four bytes of seven bits.
func rowSize(page []byte, at int) (size int, err error) {
	for i := at; i < min(at+4, len(page)); i++ {
		if size = size<<7 | int(page[i]&0x7f); page[i] < 0x80 {
			return size, nil
		}
	}
	return 0, ErrSchema
}

// addChildren adds the children of a version of page 1 to the set.
func addChildren(page []byte, children map[uint32]bool) error {
	const header = fileHeader
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
	file *os.File
	size int64    // of a page
	log  *logSums // nil for a database
}

// newDatabaseSource reads the page size of a database, which is invalid if SQLite
// accepts the file only with a log. It returns false if the file is too short.
func newDatabaseSource(f *os.File) (pageSource, bool) {
	var header [fileHeader]byte
	if _, err := f.ReadAt(header[:], 0); err != nil {
		return pageSource{}, false
	}
	return pageSource{file: f, size: pageSize(header[:])}, true
}

// pageSize returns the page size in page 1.
func pageSize(page []byte) int64 {
	size := int64(binary.BigEndian.Uint16(page[16:]))
	if size == 1 {
		return 64 << 10
	}
	return size
}

// newLogSource is like newDatabaseSource for a write-ahead log. It returns false if
// SQLite ignores the log.
func newLogSource(f *os.File) (pageSource, bool) {
	var header [logHeader]byte
	if _, err := f.ReadAt(header[:], 0); err != nil {
		return pageSource{}, false
	}
	size := int64(binary.BigEndian.Uint32(header[8:]))
	sums, ok := newLogSums(&header)
	return pageSource{file: f, size: size, log: sums}, ok && isPageSize(size)
}

func isPageSize(n int64) bool { return n >= 512 && n <= 64<<10 && n&(n-1) == 0 }

// eachVersion calls f with each version of the pages with the given numbers. A
// database has one version, and a log can have many. A frame that SQLite rejects
// ends the log.
func (s *pageSource) eachVersion(numbers map[uint32]bool, f func(n uint32, page []byte) error) error {
	if !isPageSize(s.size) {
		return nil
	}
	if s.log != nil {
		return s.eachFrame(func(n uint32, page []byte) error {
			if !numbers[n] {
				return nil
			}
			return f(n, page)
		})
	}
	page := make([]byte, s.size)
	for n := range numbers {
		length, _ := s.file.ReadAt(page, int64(n-1)*s.size)
		if length == 0 {
			continue
		}
		clear(page[length:]) // as SQLite reads an incomplete page at the end
		if err := f(n, page); err != nil {
			return err
		}
	}
	return nil
}

// eachFrame calls f with each page of a log.
func (s *pageSource) eachFrame(f func(n uint32, page []byte) error) error {
	sums := *s.log
	all := bufio.NewReaderSize(io.NewSectionReader(s.file, logHeader, math.MaxInt64-logHeader), 64<<10)
	frame := make([]byte, frameHeader+s.size)
	for {
		if _, err := io.ReadFull(all, frame); err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		} else if err != nil {
			return err
		}
		n, ok := sums.next(frame)
		if !ok {
			return nil
		}
		if err := f(n, frame[frameHeader:]); err != nil {
			return err
		}
	}
}
