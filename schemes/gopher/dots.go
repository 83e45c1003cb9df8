package gopher

import (
	"bufio"
	"bytes"
	"io"
)

// A mark says what a piece of text is.
type mark uint8

const (
	run     mark = iota // bytes without a dot at the beginning of a line
	single              // the dot of such a line, alone or before other bytes
	stuffed             // the first of two dots
	lone                // a line of one dot, with its end
)

// A dotReader parts text at the dots with which lines begin, for those who
// must decide what they mean. It never looks further than the buffer of r and
// waits for no byte that it does not need.
type dotReader struct {
	r      *bufio.Reader
	inside bool // the next byte is not the first of a line
	taken  int  // bytes of the last piece, still in the buffer
}

// next returns the next piece, valid until the next call.
func (d *dotReader) next() ([]byte, mark, error) {
	d.r.Discard(d.taken)
	d.taken = 0
	if _, err := d.r.Peek(1); err != nil {
		return nil, run, err
	}
	w, _ := d.r.Peek(d.r.Buffered())
	if d.inside || w[0] != '.' {
		n := len(w)
		if i := bytes.Index(w, []byte("\n.")); i >= 0 {
			n = i + 1
		}
		d.inside = w[n-1] != '\n'
		return d.take(w[:n], run)
	}
	return d.dot()
}

// dot tells what a dot at the beginning of a line is. Up to two more bytes
// decide it.
func (d *dotReader) dot() ([]byte, mark, error) {
	w, err := d.r.Peek(2)
	if len(w) == 2 && w[1] == '\r' {
		w, err = d.r.Peek(3)
	}
	if err != nil && err != io.EOF {
		return nil, run, err
	}
	switch {
	case len(w) == 1, w[1] == '\n', w[1] == '\r' && (len(w) == 2 || w[2] == '\n'):
		return d.take(w, lone)
	case w[1] == '.':
		d.inside = true
		return d.take(w[:1], stuffed)
	}
	d.inside = true
	return d.take(w[:1], single)
}

func (d *dotReader) take(w []byte, m mark) ([]byte, mark, error) {
	d.taken = len(w)
	return w, m, nil
}

// A block is the data of Gopher+ that a line of one dot ends ("+-1"). Its Read
// returns io.EOF behind that line alone.
type block struct {
	dots dotReader
	out  []byte
	err  error
}

func newBlock(r *bufio.Reader) *block { return &block{dots: dotReader{r: r}} }

func (b *block) Read(p []byte) (int, error) {
	for len(b.out) == 0 && b.err == nil {
		w, m, err := b.dots.next()
		switch {
		case err == io.EOF:
			b.err = io.ErrUnexpectedEOF
		case err != nil:
			b.err = err
		case m == lone:
			b.err = io.EOF
		case m == run, m == single: // UMN gopherd stuffs no other line than that of a dot
			b.out = w
		}
	}
	if len(b.out) == 0 {
		return 0, b.err
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}
