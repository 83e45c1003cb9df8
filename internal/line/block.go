package line

import (
	"bytes"
	"io"
	"math"
)

// A Block reads a block that ends in a line of one dot (RFC 3977, section
// 3.1.1). Line ends stay as sent. It returns io.EOF only after the ending
// line, and the Reader then stands right behind that; if the input ends
// earlier the error is io.ErrUnexpectedEOF.
//
// The Reader belongs to the Block until then.
type Block struct {
	r       *Reader
	raw     bool
	limit   int
	err     error
	inside  bool // the next byte is not the first of a line
	length  int  // bytes of the present line so far
	last    byte // of those
	tail    int  // bytes of the ending line that a raw block still owes
	bareLFs bool
	plain   bool // the server adds no dots
}

// Block returns a reader of the next block, without added dots and without the
// ending line. A line that begins with one dot and another byte proves that this
// server adds no dots, so this line and later lines keep all dots. A line of
// more than limit bytes is ErrTooLong. Zero means any length, because a Block
// holds no line in memory.
func (r *Reader) Block(limit int) *Block {
	if limit <= 0 {
		limit = math.MaxInt - 2
	}
	return &Block{r: r, limit: limit}
}

// RawBlock is like Block, but gives every byte that the server sent, added
// dots and the ending line included.
func (r *Reader) RawBlock(limit int) *Block {
	b := r.Block(limit)
	b.raw = true
	return b
}

// BareLF reports whether a line read so far ended in LF without CR.
func (b *Block) BareLF() bool { return b.bareLFs }

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

// read moves one run of bytes to p: none if there is only a dot that is not
// for the caller.
func (b *Block) read(p []byte) (n int, err error) {
	r := b.r
	if r.Buffered() == 0 {
		if err := r.fill(); err != nil {
			return 0, unexpected(err)
		}
	}
	w := r.buf[r.start:r.end]
	switch {
	case b.tail > 0:
		n = copy(p, w[:b.tail])
		if b.tail -= n; b.tail == 0 {
			err = io.EOF
		}
	case !b.inside && w[0] == '.':
		return 0, b.dot()
	default:
		n, err = b.run(w[:min(len(w), len(p))])
		copy(p, w[:n])
	}
	r.start += n
	return n, err
}

// dot handles a line that begins with one: the ending line, or a line to be
// freed of it.
func (b *Block) dot() error {
	ending, err := b.r.ending()
	if err != nil {
		return unexpected(err)
	}
	b.bareLFs = b.bareLFs || ending == len(".\n")
	switch {
	case ending == 0:
		b.inside = true
		b.plain = b.plain || b.r.buf[b.r.start+1] != '.'
		if !b.raw && !b.plain {
			b.r.start++
		}
	case b.raw:
		b.tail = ending
	default:
		b.r.start += ending
		return io.EOF
	}
	return nil
}

// ending returns the length of the line at hand, which begins with a dot, if
// that is all there is on it, and zero otherwise.
func (r *Reader) ending() (int, error) {
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

// run returns how many bytes of w can be passed on at once: whole lines up to
// one that begins with a dot, or the part of a line that w has.
func (b *Block) run(w []byte) (int, error) {
	for n := 0; ; {
		i := bytes.IndexByte(w[n:], '\n')
		if i < 0 {
			return len(w), b.part(w[n:])
		}
		if err := b.part(w[n : n+i]); err != nil {
			return 0, err
		}
		text := b.length
		if b.last == '\r' {
			text--
		} else {
			b.bareLFs = true
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

// part counts bytes of the present line.
func (b *Block) part(bytes []byte) error {
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

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
