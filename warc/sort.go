package warc

import (
	"bufio"
	"bytes"
	"container/heap"
	"errors"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/anyurl/fetch/fetch"
)

// sortSize bounds the lines that a Sorter holds in memory.
const sortSize = 16 << 20

// A Sorter sorts lines by their bytes in flat memory: what is too much for it
// goes into temporary files. Of lines that are the same it keeps one. The zero
// value is ready; the caller closes it.
type Sorter struct {
	text   []byte
	starts []int // of the lines in text
	files  []*os.File
	limit  int // 0: sortSize; less in tests
}

// Add takes a line, without its line end.
func (s *Sorter) Add(line []byte) error {
	if s.limit == 0 {
		s.limit = sortSize
	}
	if len(s.text)+len(line)+8*len(s.starts) > s.limit && len(s.starts) > 0 {
		if err := s.spill(); err != nil {
			return local(err)
		}
	}
	s.starts = append(s.starts, len(s.text))
	s.text = append(append(s.text, line...), '\n')
	return nil
}

// spill puts the lines in memory into a file.
func (s *Sorter) spill() error {
	f, err := os.CreateTemp("", "fetch-sort-*")
	if err != nil {
		return err
	}
	s.files = append(s.files, f)
	if err := writeLines(f, s.held()); err != nil {
		return err
	}
	s.text, s.starts = s.text[:0], s.starts[:0]
	_, err = f.Seek(0, io.SeekStart)
	return err
}

// held are the lines in memory, in order.
func (s *Sorter) held() lines {
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

// lines are lines with their ends, each valid until the next. An error ends
// them.
type lines = iter.Seq2[[]byte, error]

// Sorted hands out the lines in order, with their line ends; each is valid
// until the next. The Sorter takes no more lines afterwards.
func (s *Sorter) Sorted() iter.Seq2[[]byte, error] {
	if len(s.files) == 0 {
		return once(s.held())
	}
	all := []lines{s.held()}
	for _, f := range s.files {
		all = append(all, readLines(f))
	}
	return once(merge(all))
}

// Close removes the temporary files.
func (s *Sorter) Close() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Close(), os.Remove(f.Name()))
	}
	*s = Sorter{limit: s.limit}
	return local(errors.Join(errs...))
}

// Merge writes the lines of sorted files in order. Of lines that are the same
// one is written.
func Merge(w io.Writer, sorted ...io.Reader) error {
	all := make([]lines, len(sorted))
	for i, r := range sorted {
		all[i] = readLines(r)
	}
	return writeLines(w, once(merge(all)))
}

func writeLines(w io.Writer, from lines) error {
	out := bufio.NewWriterSize(w, bufferSize)
	for line, err := range from {
		if err != nil {
			return err
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

func readLines(r io.Reader) lines {
	return func(yield func([]byte, error) bool) {
		in := bufio.NewReaderSize(r, bufferSize)
		var line []byte
		for {
			part, err := in.ReadSlice('\n')
			line = append(line, part...)
			switch {
			case len(line) > maxRecordHead:
				yield(nil, fetch.TooLarge.Errorf("line of more than %d bytes", maxRecordHead))
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

// merge hands out the lines of sorted sequences in order.
func merge(all []lines) lines {
	return func(yield func([]byte, error) bool) {
		var first cursors
		for _, l := range all {
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
				first = append(first, c)
			}
		}
		heap.Init(&first)
		for len(first) > 0 {
			if !yield(first[0].line, nil) {
				return
			}
			ok, err := first[0].advance()
			switch {
			case err != nil:
				yield(nil, err)
				return
			case ok:
				heap.Fix(&first, 0)
			default:
				heap.Pop(&first)
			}
		}
	}
}

// cursor is the line that a sequence stands at.
type cursor struct {
	next func() ([]byte, error, bool)
	line []byte
}

func (c *cursor) advance() (ok bool, err error) {
	c.line, err, ok = c.next()
	return ok, err
}

// cursors are a heap.
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

// once leaves out lines that are the same as the one before.
func once(from lines) lines {
	return func(yield func([]byte, error) bool) {
		var last []byte
		for line, err := range from {
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
