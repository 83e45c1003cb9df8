package warc

import (
	"errors"
	"io"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/anyurl/fetch/internal/linesort"
	"github.com/anyurl/fetch/internal/regularfile"
)

// An Archive replays the captures of WARC and WACZ files. It is safe for
// concurrent use. The caller must close it.
type Archive struct {
	// Time selects a capture if the archive has several captures of a URL.
	// Replay uses the capture nearest to Time. If Until is later than Time, the
	// period from Time to Until takes the place of Time: replay uses the latest
	// capture in the period, or else the capture nearest to it. If Time is
	// zero, replay uses the latest capture. The index has whole seconds. These
	// fields must not change while the Archive is in use.
	Time, Until time.Time

	// If Decode is true, replay removes the content codings of HTTP bodies, as
	// a client does that accepts codings. Otherwise bodies keep the codings
	// that the server used.
	Decode bool

	// If Raw is true, replay returns HTTP bodies with their transfer coding, as
	// far as the records contain it, and with their content codings.
	Raw bool

	// Damaged lists the damage that Open found. The other records can still be
	// replayed.
	Damaged []*Error

	index     io.ReaderAt
	size      int64              // bytes in index
	file      *os.File           // file with the index, or nil if the index is in memory
	temporary bool               // if true, Close removes file
	sections  map[string]section // sections by the base name of the WARC file
}

// A section is a byte range of a file that contains one WARC file. A WACZ file
// can have several sections.
type section struct {
	path         string
	offset, size int64
}

// completeFile returns a section for all bytes of the WARC file at path.
func completeFile(path string) section { return section{path, 0, 1 << 62} }

// open opens the section for reading. The caller must close the returned file.
func (s section) open() (*io.SectionReader, *os.File, error) {
	f, err := regularfile.Open(s.path)
	if err != nil {
		return nil, nil, localError(err)
	}
	return io.NewSectionReader(f, s.offset, s.size), f, nil
}

// Close closes the index and removes temporary files. Response bodies that are
// still open remain readable.
func (a *Archive) Close() error {
	if a.file == nil {
		return nil
	}
	err := a.file.Close()
	if a.temporary {
		err = errors.Join(err, os.Remove(a.file.Name()))
	}
	a.file = nil
	return localError(err)
}

// Lines returns the lines of the index, sorted by key and time. The sequence
// ends after the first error.
func (a *Archive) Lines() iter.Seq2[Line, error] {
	return parseLines(linesort.Read(io.NewSectionReader(a.index, 0, a.size)))
}

func parseLines(in linesort.Lines) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for text, err := range in {
			var l Line
			if err == nil {
				l, err = ParseLine(string(text))
			}
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// lookup returns the index lines with the given key.
func (a *Archive) lookup(key string) iter.Seq2[Line, error] {
	key = escape(key, " ") + " "
	return func(yield func(Line, error) bool) {
		start, err := searchLines(a.index, a.size, key)
		if err != nil {
			yield(Line{}, err)
			return
		}
		for text, err := range linesort.Read(io.NewSectionReader(a.index, start, a.size-start)) {
			if err == nil && !strings.HasPrefix(string(text), key) {
				return
			}
			var l Line
			if err == nil {
				l, err = ParseLine(string(text))
			}
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// searchLines performs a binary search in the sorted lines of index. It returns
// the offset of the first line that is not less than key.
func searchLines(index io.ReaderAt, size int64, key string) (int64, error) {
	low, high := int64(0), size
	for low < high {
		middle := low + (high-low)/2
		start, line, err := lineAt(index, size, low, middle)
		switch {
		case err != nil:
			return 0, err
		case start >= high:
			high = middle
		case line < key:
			low = start + int64(len(line))
		default:
			high = start
		}
	}
	return low, nil
}

// lineAt returns the first line that starts at or after offset, and its
// position. The line at offset low must be at or before that line.
func lineAt(index io.ReaderAt, size, low, offset int64) (int64, string, error) {
	from := max(offset-1, low) // the line break before offset
	skip := offset > low
	for text, err := range linesort.Read(io.NewSectionReader(index, from, size-from)) {
		if err != nil {
			return 0, "", err
		}
		if !skip {
			return from, string(text), nil
		}
		from, skip = from+int64(len(text)), false
	}
	return size, "", nil
}
