// Package linesort sorts and merges lines of text with a limited amount of
// memory.
package linesort

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tempfile"
)

const (
	bufferSize = 64 << 10

	// defaultMemory is the default limit for the lines in memory, in bytes.
	defaultMemory = 4 << 20

	// mergeMemory limits the buffers and lines of the files that are merged at the
	// same time, in bytes. There are thus about 250 files, or fewer if lines are
	// long.
	mergeMemory = 16 << 20

	// MaxLine is the maximum length of a line in bytes, including its line
	// break.
	MaxLine = 1 << 20
)

// Lines is a sequence of lines with their line breaks. Each line is valid only
// until the next iteration. The sequence ends at the first error.
type Lines = iter.Seq2[[]byte, error]

// A Sorter sorts lines by their bytes and removes duplicates. Lines that do not
// fit into its memory are stored in temporary files. The zero value is ready to
// use. The caller must call Close. A Sorter is not safe for concurrent use.
type Sorter struct {
	text    []byte
	starts  []int // offsets of the lines in text
	longest int   // length of the longest line
	files   []sortedFile
	limit   int // memory limit in bytes; if 0, defaultMemory
}

// A sortedFile is a temporary file with sorted lines. The level counts the merges
// in which it was created.
type sortedFile struct {
	tempfile.File
	level int
}

// Add adds a line to the Sorter. The line must not contain a line break.
func (s *Sorter) Add(line []byte) error {
	if len(s.text)+len(line)+8*len(s.starts) > cmp.Or(s.limit, defaultMemory) && len(s.starts) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.longest = max(s.longest, len(line)+1)
	s.starts = append(s.starts, len(s.text))
	s.text = append(append(s.text, line...), '\n')
	return nil
}

// spill moves the lines from memory to a temporary file.
func (s *Sorter) spill() error {
	if err := s.addFile(0, s.sortMemory()); err != nil {
		return err
	}
	s.text, s.starts = s.text[:0], s.starts[:0]
	return s.mergeFiles()
}

// addFile adds a temporary file with sorted lines.
func (s *Sorter) addFile(level int, lines Lines) error {
	f, err := tempfile.Create("", "fetch-sort-*")
	if err != nil {
		return err
	}
	s.files = append(s.files, sortedFile{f, level})
	if err := Write(f, lines); err != nil {
		return err
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}

// mergeFiles merges the last files of the same level into one, if a merge of more
// files would need too much memory.
func (s *Sorter) mergeFiles() error {
	width := max(mergeMemory/(bufferSize+s.longest), 2)
	for {
		n, level := len(s.files), s.files[len(s.files)-1].level
		if n < width || s.files[n-width].level != level {
			return nil
		}
		group := s.files[n-width:]
		err := s.addFile(level+1, merge(linesOf(group)))
		if err != nil {
			return err
		}
		err = removeAll(group)
		s.files = append(s.files[:n-width], s.files[n])
		if err != nil {
			return err
		}
	}
}

// linesOf returns the lines of each file.
func linesOf(files []sortedFile) (all []Lines) {
	for _, f := range files {
		all = append(all, Read(f))
	}
	return all
}

// removeAll closes and removes files.
func removeAll(files []sortedFile) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// sortMemory returns the lines in memory as a sorted sequence.
func (s *Sorter) sortMemory() Lines {
	return func(yield func([]byte, error) bool) {
		line := func(start int) []byte {
			return s.text[start : start+bytes.IndexByte(s.text[start:], '\n')+1]
		}
		slices.SortFunc(s.starts, func(a, b int) int { return bytes.Compare(line(a), line(b)) })
		for _, start := range s.starts {
			if !yield(line(start), nil) {
				return
			}
		}
	}
}

// Sorted returns the sorted lines with their line breaks. Each line is valid
// only until the next iteration. The caller must not call Add after Sorted.
func (s *Sorter) Sorted() Lines {
	if s.InMemory() {
		return unique(s.sortMemory())
	}
	return unique(merge(append(linesOf(s.files), s.sortMemory())))
}

// InMemory reports whether all lines are in memory, so that there are no
// temporary files.
func (s *Sorter) InMemory() bool { return len(s.files) == 0 }

// Size returns the total size of the lines in memory, in bytes.
func (s *Sorter) Size() int { return len(s.text) }

// Close removes the temporary files.
func (s *Sorter) Close() error {
	err := removeAll(s.files)
	*s = Sorter{limit: s.limit}
	return err
}

// Merge merges several sorted files into one, removes duplicate lines and
// writes the result to w.
func Merge(w io.Writer, sorted ...io.Reader) error {
	sequences := make([]Lines, len(sorted))
	for i, r := range sorted {
		sequences[i] = Read(r)
	}
	return Write(w, unique(merge(sequences)))
}

// Write writes lines to w.
func Write(w io.Writer, in Lines) error {
	out := bufio.NewWriterSize(w, bufferSize)
	for line, err := range in {
		if err != nil {
			return err
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

// Read returns the lines of r. If the last line has no line break, Read adds
// one. A line longer than [MaxLine] is an error that wraps fetch.TooLarge.
func Read(r io.Reader) Lines { return ReadSize(r, bufferSize) }

// ReadSize is like Read with a buffer of the given size in bytes. A small buffer
// saves time if only the first lines are needed. If r is a *bufio.Reader with at
// least this size, ReadSize uses its buffer.
func ReadSize(r io.Reader, size int) Lines {
	return func(yield func([]byte, error) bool) {
		in := bufio.NewReaderSize(r, size)
		var line []byte
		for {
			part, err := in.ReadSlice('\n')
			line = append(line, part...)
			switch {
			case len(line) > MaxLine:
				yield(nil, fetch.TooLarge.Errorf("line is longer than %d bytes", MaxLine))
				return
			case err == bufio.ErrBufferFull:
				continue
			case err == io.EOF && len(line) == 0:
				return
			case err == io.EOF:
				line = append(line, '\n')
			case err != nil:
				yield(nil, err)
				return
			}
			if !yield(line, nil) {
				return
			}
			line = line[:0]
		}
	}
}

// merge merges sorted sequences of lines.
func merge(sequences []Lines) Lines {
	return func(yield func([]byte, error) bool) {
		var heads cursors
		for _, l := range sequences {
			c := &cursor{}
			var stop func()
			c.next, stop = iter.Pull2(l)
			defer stop()
			ok, err := c.advance()
			if err != nil {
				yield(nil, err)
				return
			}
			if ok {
				heads = append(heads, c)
			}
		}
		heap.Init(&heads)
		for len(heads) > 0 {
			if !yield(heads[0].line, nil) {
				return
			}
			ok, err := heads[0].advance()
			switch {
			case err != nil:
				yield(nil, err)
				return
			case ok:
				heap.Fix(&heads, 0)
			default:
				heap.Pop(&heads)
			}
		}
	}
}

// A cursor contains the current line of one sorted sequence during a merge.
type cursor struct {
	next func() ([]byte, error, bool)
	line []byte
}

func (c *cursor) advance() (ok bool, err error) {
	c.line, err, ok = c.next()
	return ok, err
}

// cursors is a heap of cursors that is ordered by their current lines.
type cursors []*cursor

func (c cursors) Len() int           { return len(c) }
func (c cursors) Less(i, j int) bool { return bytes.Compare(c[i].line, c[j].line) < 0 }
func (c cursors) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c *cursors) Push(x any)        { *c = append(*c, x.(*cursor)) }
func (c *cursors) Pop() any {
	last := len(*c) - 1
	x := (*c)[last]
	*c = (*c)[:last]
	return x
}

// unique removes consecutive duplicates.
func unique(in Lines) Lines {
	return func(yield func([]byte, error) bool) {
		var last []byte
		for line, err := range in {
			if err == nil && last != nil && bytes.Equal(line, last) {
				continue
			}
			if !yield(line, err) || err != nil {
				return
			}
			last = append(last[:0], line...)
		}
	}
}
