package gopher

import (
	"bufio"
	"bytes"
	"io"
)

// A mark says what a piece of text is.
type mark uint8

const (
	run    mark = iota // bytes without a leading dot
	single             // the leading dot of ".x"
	double             // the first dot of "..x"
	two                // the first dot of the line ".."
	lone               // the line ".", including its line end
)

// A dotReader splits text at the leading dots of lines, so that its caller can
// interpret them. It never looks beyond the buffer of r, and reads no more bytes
// than it needs for the next piece.
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

// dot classifies a dot at the beginning of a line. Up to three more bytes decide
// it.
func (d *dotReader) dot() ([]byte, mark, error) {
	end, err := d.lineEnd(1)
	if err != nil {
		return nil, run, err
	}
	w, _ := d.r.Peek(2)
	switch {
	case end > 0:
		w, _ = d.r.Peek(end)
		return d.take(w, lone)
	case w[1] != '.':
		d.inside = true
		return d.take(w[:1], single)
	}
	m := double
	if end, err = d.lineEnd(2); err != nil {
		return nil, run, err
	} else if end > 0 {
		m = two
	}
	d.inside = true
	w, _ = d.r.Peek(1) // looking further may have moved the buffer
	return d.take(w, m)
}

// lineEnd returns the length of the current line, including its line end, if the
// line has n bytes. It returns zero for a longer line. The end of the input also
// ends a line.
func (d *dotReader) lineEnd(n int) (int, error) {
	w, err := d.r.Peek(n + 1)
	if len(w) > n && w[n] == '\r' {
		w, err = d.r.Peek(n + 2)
	}
	switch {
	case err != nil && err != io.EOF:
		return 0, err
	case len(w) <= n, w[n] == '\n', w[n] == '\r' && (len(w) == n+1 || w[n+1] == '\n'):
		return len(w), nil
	}
	return 0, nil
}

func (d *dotReader) take(w []byte, m mark) ([]byte, mark, error) {
	d.taken = len(w)
	return w, m, nil
}

// A block reads Gopher+ data that the line "." ends ("+-1"). Read returns io.EOF
// only after that line. UMN gopherd is the only known server of such data, and
// stuffs only the line ".".
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
		case m != two:
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
