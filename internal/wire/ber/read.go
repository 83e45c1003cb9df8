package ber

import (
	"bufio"
	"io"
	"slices"
)

// chunk is the maximum number of bytes that Read allocates for a value before
// any of its bytes have arrived.
const chunk = 64 << 10

// large is the size of out above which its capacity grows to the limit at once.
const large = 1 << 20

// Read reads one element into buf, which grows if necessary, and returns its
// encoding. An element of more than limit bytes, or of more than MaxDepth
// levels, is an error. At the end of r, Read returns io.EOF, and within an
// element io.ErrUnexpectedEOF. The buffer of r must hold at least 16 bytes.
func Read(r *bufio.Reader, buf []byte, limit int) ([]byte, error) {
	if _, err := r.Peek(1); err != nil {
		return nil, err
	}
	in := reader{r: r, limit: limit, out: buf[:0]}
	_, err := in.element(0)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return in.out, err
}

type reader struct {
	r     *bufio.Reader
	limit int
	out   []byte
}

func (in *reader) element(depth int) (h header, err error) {
	if depth > MaxDepth {
		return h, malformed("more than %d levels of elements", MaxDepth)
	}
	if h, err = in.header(); err != nil {
		return h, err
	}
	if h.length >= 0 {
		return h, in.copy(h.length)
	}
	for {
		inner, err := in.element(depth + 1)
		if err != nil || inner.isEnd() {
			return h, err
		}
	}
}

// maxHeader is the maximum size of a header in bytes: a tag and a length.
const maxHeader = 16

func (in *reader) header() (h header, err error) {
	for n := 2; ; n++ {
		b, err := in.r.Peek(n)
		if err != nil {
			return h, err
		}
		h, ok, err := parseHeader(b)
		switch {
		case err != nil:
			return h, err
		case ok:
			return h, in.copy(h.size)
		case n == maxHeader:
			return h, malformed("header of more than %d bytes", maxHeader)
		}
	}
}

// copy appends n bytes of r to out.
func (in *reader) copy(n int) error {
	if n > in.limit-len(in.out) {
		return malformed("element of more than %d bytes", in.limit)
	}
	if err := in.read(min(n, chunk)); err != nil || n <= chunk {
		return err
	}
	in.out = slices.Grow(in.out, n-chunk) // the first bytes have arrived
	return in.read(n - chunk)
}

// read appends n bytes of r to out. A large out grows only once, because
// repeated growth for a large element of indefinite length would need several
// times its memory.
func (in *reader) read(n int) error {
	at := len(in.out)
	if at+n > cap(in.out) && at > large {
		in.out = slices.Grow(in.out, in.limit-at)
	}
	in.out = slices.Grow(in.out, n)[:at+n]
	_, err := io.ReadFull(in.r, in.out[at:])
	return err
}
