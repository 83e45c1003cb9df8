package warc

import (
	"cmp"
	"errors"
	"github.com/anyurl/fetch/internal/regularfile"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"
)

// An Archive answers URLs from what was captured. It is safe for concurrent
// use; the caller closes it.
type Archive struct {
	// Time chooses among the captures of a URL: the last one at or before it
	// and, where there is none, the first one after it. Zero: the last of all.
	// It is not to be changed while the Archive is in use.
	Time time.Time

	// Damaged tells what of the files could not be read: their other records
	// answer nonetheless.
	Damaged []*Error

	index  io.ReaderAt
	size   int64            // of index
	file   *os.File         // that index is in; nil: it is in memory
	temp   bool             // file is our own
	places map[string]place // of the archives, by their base names
}

// place is where an archive lies: a file, or a part of one.
type place struct {
	path     string
	at, size int64
}

// whole is the place of an archive that is a file, as long as it is.
func whole(path string) place { return place{path, 0, 1 << 62} }

// open returns the archive there; the caller closes the file.
func (p place) open() (*io.SectionReader, *os.File, error) {
	f, err := regularfile.Open(p.path)
	if err != nil {
		return nil, nil, local(err)
	}
	return io.NewSectionReader(f, p.at, p.size), f, nil
}

// Close gives the index back. Bodies that are still open go on.
func (a *Archive) Close() error {
	if a.file == nil {
		return nil
	}
	err := a.file.Close()
	if a.temp {
		err = errors.Join(err, os.Remove(a.file.Name()))
	}
	a.file = nil
	return local(err)
}

// Lines hands out the whole index in order.
func (a *Archive) Lines() iter.Seq2[Line, error] {
	return parsed(readLines(io.NewSectionReader(a.index, 0, a.size)))
}

func parsed(from lines) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for text, err := range from {
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

// find hands out the lines with that key.
func (a *Archive) find(key string) iter.Seq2[Line, error] {
	key = escape(key, " ") + " "
	return func(yield func(Line, error) bool) {
		start, err := bisect(a.index, a.size, key)
		if err != nil {
			yield(Line{}, err)
			return
		}
		for text, err := range readLines(io.NewSectionReader(a.index, start, a.size-start)) {
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

// bisect finds where the first line at or behind key begins in sorted lines.
// Each line that begins before low is before key, each at or behind high is not.
func bisect(index io.ReaderAt, size int64, key string) (int64, error) {
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

// lineAt reads the first line that begins at or behind at; low begins one.
func lineAt(index io.ReaderAt, size, low, at int64) (int64, string, error) {
	from := max(at-1, low) // the end of the line before
	skip := at > low
	for text, err := range readLines(io.NewSectionReader(index, from, size-from)) {
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

// order sorts candidates as Time wants them.
func (a *Archive) order(found []Line) []Line {
	slices.SortStableFunc(found, func(x, y Line) int { return cmp.Compare(y.Timestamp, x.Timestamp) })
	at := a.Time.UTC().Format("20060102150405")
	later := slices.IndexFunc(found, func(l Line) bool { return a.Time.IsZero() || l.Timestamp <= at })
	if later < 0 {
		later = len(found)
	}
	slices.Reverse(found[:later])
	return slices.Concat(found[later:], found[:later])
}
