package warc

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
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

	index io.ReaderAt
	size  int64 // of index
	temp  *os.File
	paths map[string]string // by base name
}

// Open reads archives, which are named by path: files of this format, or a
// folder that has such in itself, in "warc" or in "archive". They are indexed
// first, in flat memory.
func Open(paths ...string) (*Archive, error) {
	a := &Archive{paths: map[string]string{}}
	var s Sorter
	defer s.Close()
	for _, path := range paths {
		files, err := filesIn(path)
		if err != nil {
			return nil, local(err)
		}
		for _, file := range files {
			if err := a.add(&s, file); err != nil {
				return nil, local(err)
			}
		}
	}
	if err := a.store(&s); err != nil {
		a.Close()
		return nil, local(err)
	}
	return a, nil
}

// filesIn lists path itself or, of a folder, the archives in it.
func filesIn(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	var files []string
	for _, dir := range []string{path, filepath.Join(path, "warc"), filepath.Join(path, "archive")} {
		list, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		for _, e := range list {
			name := strings.TrimSuffix(strings.TrimSuffix(e.Name(), OpenSuffix), ".gz")
			if strings.HasSuffix(name, ".warc") && e.Type().IsRegular() {
				files = append(files, filepath.Join(dir, e.Name()))
			}
		}
	}
	if len(files) == 0 {
		return nil, fetch.NotFound.Errorf("no archive in %s", path)
	}
	return files, nil
}

func (a *Archive) add(s *Sorter, path string) error {
	name := filepath.Base(path)
	if other, ok := a.paths[name]; ok && other != path {
		return fetch.Usage.Errorf("%s and %s have one name", other, path)
	}
	a.paths[name] = path
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for line, err := range Lines(name, f) {
		var damage *Error
		switch {
		case err == nil:
			err = s.Add(line.append(nil))
		case errors.As(err, &damage):
			damage.File = path
			a.Damaged = append(a.Damaged, damage)
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// store keeps a small index in memory and a large one in a file.
func (a *Archive) store(s *Sorter) (err error) {
	if len(s.files) == 0 {
		var b bytes.Buffer
		err = writeLines(&b, s.Sorted())
		a.index, a.size = bytes.NewReader(b.Bytes()), int64(b.Len())
		return err
	}
	if a.temp, err = os.CreateTemp("", "fetch-index-*"); err != nil {
		return err
	}
	a.index = a.temp
	if err = writeLines(a.temp, s.Sorted()); err != nil {
		return err
	}
	a.size, err = a.temp.Seek(0, io.SeekEnd)
	return err
}

// Close removes a temporary index. Bodies that are still open go on.
func (a *Archive) Close() error {
	if a.temp == nil {
		return nil
	}
	err := errors.Join(a.temp.Close(), os.Remove(a.temp.Name()))
	a.temp = nil
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
