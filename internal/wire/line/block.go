package line

import (
	"bytes"
	"io"
	"math"
)

// A Block reads a multi-line data block, whose last line contains only a dot
// (RFC 3977 section 3.1.1). It does not change line endings. Read returns
// io.EOF after the terminating line, and the Reader is then positioned after
// that line. If the input ends earlier, Read returns io.ErrUnexpectedEOF.
//
// Do not use the underlying Reader until Block.Read has returned an error,
// which may be io.EOF.
type Block struct {
	r      *Reader
	limit  int
	err    error
	inside bool // the next byte is not the first of a line
	length int  // bytes of the current line so far
	last   byte // last byte so far of the current line, or 0
	plain  bool // the server does not add dots to lines that start with a dot
}

// Block returns a reader for the next block. It removes the dots that the
// server added and the terminating line.
//
// A line that starts with a dot and another byte proves that the server does
// not add dots. From this line on, the Block keeps all dots. A line longer than
// limit bytes is an ErrTooLong error. A limit of zero means no limit, because a
// Block does not hold lines in memory.
func (r *Reader) Block(limit int) *Block {
	if limit <= 0 {
		limit = math.MaxInt - 2
	}
	return &Block{r: r, limit: limit}
}

// Read implements io.Reader.
func (b *Block) Read(p []byte) (n int, err error) {
	for n == 0 && b.err == nil && len(p) > 0 {
		n, b.err = b.read(p)
	}
	if n > 0 {
		return n, nil
	}
	return 0, b.err
}

// read copies bytes to p. It may return zero bytes without an error after it
// has processed a dot.
func (b *Block) read(p []byte) (n int, err error) {
	r := b.r
	if r.Buffered() == 0 {
		if err := r.fill(); err != nil {
			return 0, UnexpectedEOF(err)
		}
	}
	w := r.buf[r.start:r.end]
	if !b.inside && w[0] == '.' {
		return 0, b.handleDot()
	}
	n, err = b.lineSpan(w[:min(len(w), len(p))])
	copy(p, w[:n])
	r.start += n
	return n, err
}

// handleDot processes the start of a line that begins with a dot. It removes
// the dot, or the terminating line.
func (b *Block) handleDot() error {
	ending, err := b.r.terminatorLen()
	if err != nil {
		return UnexpectedEOF(err)
	}
	if ending > 0 {
		b.r.start += ending
		return io.EOF
	}
	b.inside = true
	b.plain = b.plain || b.r.buf[b.r.start+1] != '.'
	if !b.plain {
		b.r.start++
	}
	return nil
}

// terminatorLen returns the length of the current line, which starts with a
// dot, if the line contains only the dot. Otherwise it returns zero.
func (r *Reader) terminatorLen() (int, error) {
	for {
		w := r.buf[r.start:r.end]
		switch {
		case len(w) >= 2 && w[1] == '\n':
			return 2, nil
		case len(w) >= 3 && w[1] == '\r' && w[2] == '\n':
			return 3, nil
		case len(w) >= 3, len(w) == 2 && w[1] != '\r':
			return 0, nil
		}
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
}

// lineSpan returns the number of bytes of w that can be copied at once. The
// bytes end before the next line that starts with a dot, or at the end of w.
func (b *Block) lineSpan(w []byte) (int, error) {
	for n := 0; ; {
		i := bytes.IndexByte(w[n:], '\n')
		if i < 0 {
			return len(w), b.count(w[n:])
		}
		if err := b.count(w[n : n+i]); err != nil {
			return 0, err
		}
		text := b.length
		if b.last == '\r' {
			text--
		}
		if text > b.limit {
			return 0, ErrTooLong
		}
		b.length, b.last, b.inside = 0, 0, false
		n += i + 1
		if n == len(w) || w[n] == '.' {
			return n, nil
		}
	}
}

// count adds bytes to the length of the current line. It returns ErrTooLong if
// the line exceeds the limit.
func (b *Block) count(bytes []byte) error {
	if len(bytes) == 0 {
		return nil
	}
	b.length += len(bytes)
	b.last = bytes[len(bytes)-1]
	b.inside = true
	if b.length > b.limit && (b.length > b.limit+1 || b.last != '\r') {
		return ErrTooLong
	}
	return nil
}

// UnexpectedEOF replaces io.EOF by io.ErrUnexpectedEOF. It is called where the
// input must not end.
func UnexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
