package textindex

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/internal/base/sqlite"
)

// Limits of the segments of a table of FTS5. FTS5 needs memory for each segment, and
// for each page that lists its deleted rows, before it reads a row. An index that
// Build has written has less than a hundred segments, and a page for each 500 rows
// that were deleted since their segment was merged.
const (
	maxLevels   = 64
	maxSegments = 256
	maxDeleted  = 1 << 14 // pages of all segments
)

// errStructure means that an index has other segments than FTS5 writes.
var errStructure = errors.New("the segments of its tables are damaged")

// maxRow is the maximum size of a row with words and their positions, in bytes. FTS5
// writes rows of about 4 KiB, and reads several rows at a time for each segment. On
// smaller pages than SQLite writes, many rows could have the same overflow pages.
const (
	maxRow      = 8 << 10
	minPageSize = 4 << 10
)

// checkTrees returns an error if the tables have rows, or their indexes entries,
// that are too large, or if the pages are too small.
func checkTrees(ctx context.Context, conn *sqlite.Conn, path string) error {
	f, err := regularfile.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var size int
	if err := conn.Scan("pragma page_size", nil, &size); err != nil {
		return err
	}
	if size < minPageSize {
		return errStructure
	}
	return conn.CheckTrees(contextReader{f, ctx}, map[string]int{"word_data": maxRow, "heading_data": maxRow})
}

// A contextReader fails when its context ends.
type contextReader struct {
	io.ReaderAt
	ctx context.Context
}

func (r contextReader) ReadAt(p []byte, at int64) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.ReaderAt.ReadAt(p, at)
}

// checkStructures returns an error if the segments of a table exceed the limits.
func checkStructures(conn *sqlite.Conn) error {
	for _, table := range []string{"word_data", "heading_data"} {
		var structure []byte
		// The row 10 describes the segments.
		if err := conn.Scan("select substr(block, 1, 65536) from "+table+" where id = 10", nil, &structure); err != nil {
			return err
		}
		if err := checkStructure(structure); err != nil {
			return err
		}
	}
	return nil
}

// checkStructure reads the description of the segments as FTS5 does.
func checkStructure(text []byte) error {
	rest := text[min(4, len(text)):] // after a cookie
	rest, second := bytes.CutPrefix(rest, []byte("\xff\x00\x00\x01"))
	s := structure{rest: rest}
	levels := s.next()
	s.next() // number of all segments, which FTS5 compares
	s.next()
	segments, deleted := uint64(0), uint64(0)
	for ; levels > 0 && levels <= maxLevels && !s.ended; levels-- {
		s.next()
		n := s.next()
		if segments += n; n > maxSegments || segments > maxSegments {
			return errStructure
		}
		for range n {
			s.next() // identifier, first and last page
			s.next()
			s.next()
			if !second {
				continue
			}
			s.next() // first and last origin
			s.next()
			pages := s.next()
			if deleted += pages; pages > maxDeleted || deleted > maxDeleted {
				return errStructure
			}
			s.next() // number of deleted rows, and of all rows
			s.next()
		}
	}
	if levels > 0 || s.ended {
		return errStructure
	}
	return nil
}

// A structure reads the integers of a description of segments.
type structure struct {
	rest  []byte
	ended bool // an integer was incomplete
}

// next returns the next integer, in the format of SQLite.
func (s *structure) next() (n uint64) {
	for i, b := range s.rest[:min(9, len(s.rest))] {
		if i == 8 {
			s.rest = s.rest[9:]
			return n<<8 | uint64(b)
		}
		n = n<<7 | uint64(b&0x7f)
		if b < 0x80 {
			s.rest = s.rest[i+1:]
			return n
		}
	}
	s.rest, s.ended = nil, true
	return 0
}
