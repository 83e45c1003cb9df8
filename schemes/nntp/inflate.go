package nntp

import (
	"encoding/binary"
	"errors"
	"io"
	"os"

	"github.com/anyurl/fetch/fetch"
)

// An inflater reads DEFLATE (RFC 1951) as a conversation needs it: everything
// that the bytes so far tell is given out before it waits for more, and it
// waits for no bit that it could do without. INN ends its answers with zlib's
// partial flush, which keeps some bits back; the inflaters of the standard
// library and of klauspost/compress wait for those (doc/design/007-news.md).
type inflater struct {
	r          io.Reader
	in         [4 << 10]byte
	start, end int // in[start:end] is read but not yet among bits

	bits  uint64 // the next bits, the lowest first
	n     uint   // how many
	state func(*inflater) error
	final bool
	left  int // of a stored block

	literals, distances huffman
	window              [1 << 15]byte
	given, made         int // bytes in all; window holds the last of those made
	err                 error
}

func newInflater(r io.Reader) *inflater { return &inflater{r: r, state: (*inflater).block} }

// enough is how much may wait to be given out: a copy of 258 bytes must still
// fit into the window.
const enough = 1<<15 - 258

func (z *inflater) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for z.err == nil && z.made-z.given < enough {
		if err := z.state(z); err == errMore {
			if z.made > z.given {
				break
			}
			z.err = z.fill()
		} else if err != nil {
			z.err = err
		}
	}
	if z.made == z.given {
		err := z.err
		if errors.Is(err, os.ErrDeadlineExceeded) {
			z.err = nil // the connection is as good as before
		}
		return 0, err
	}
	at := z.given & (len(z.window) - 1)
	n := copy(p, z.window[at:min(len(z.window), at+z.made-z.given)])
	z.given += n
	return n, nil
}

// moreError is what states say that can do nothing with the bits there are,
// and have used none of them.
type moreError struct{}

func (moreError) Error() string { return "more bits are needed" }

var (
	errMore    error = moreError{}
	errCorrupt       = fetch.Protocol.Errorf("corrupt compressed data")
)

// fill waits for bytes.
func (z *inflater) fill() error {
	for range 100 {
		n, err := z.r.Read(z.in[:])
		z.start, z.end = 0, n
		if n > 0 {
			return nil // an error comes again
		}
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// refill moves what bytes there are to bits: 56 at the least, if they last.
func (z *inflater) refill() {
	for z.n <= 56 && z.start < z.end {
		z.bits |= uint64(z.in[z.start]) << z.n
		z.start++
		z.n += 8
	}
}

// take waits for count bits, at the most 16, and uses them.
func (z *inflater) take(count uint) (uint, error) {
	for z.refill(); z.n < count; z.refill() {
		if err := z.fill(); err != nil {
			return 0, err
		}
	}
	v := uint(z.bits) & (1<<count - 1)
	z.use(count)
	return v, nil
}

func (z *inflater) use(count uint) {
	z.bits >>= count
	z.n -= count
}

// block reads the head of a block (RFC 1951 3.2.3), once all before it is
// given out.
func (z *inflater) block() error {
	switch {
	case z.made > z.given:
		return errMore
	case z.final:
		return io.EOF
	}
	head, err := z.take(3)
	if err != nil {
		return err
	}
	z.final = head&1 == 1
	switch head >> 1 {
	case 0:
		return z.stored()
	case 1:
		z.fixed()
	case 2:
		err = z.dynamic()
	default:
		err = errCorrupt
	}
	z.state = (*inflater).symbols
	return err
}

// stored begins a block of bytes as they are (RFC 1951 3.2.4).
func (z *inflater) stored() error {
	z.use(z.n % 8)
	size, err := z.take(16)
	if err != nil {
		return err
	}
	check, err := z.take(16)
	if err != nil {
		return err
	}
	if size^check != 1<<16-1 {
		return errCorrupt
	}
	z.left, z.state = int(size), (*inflater).plain
	return nil
}

func (z *inflater) plain() error {
	for ; z.left > 0 && z.made-z.given < enough; z.left-- {
		z.refill()
		if z.n < 8 {
			return errMore
		}
		z.put(byte(z.bits))
		z.use(8)
	}
	if z.left == 0 {
		z.state = (*inflater).block
	}
	return nil
}

func (z *inflater) put(c byte) {
	z.window[z.made&(len(z.window)-1)] = c
	z.made++
}

// symbols decodes until the end of the block, of the bytes or of the room.
func (z *inflater) symbols() error {
	for z.made-z.given < enough {
		z.refill()
		symbol, size := z.literals.decode(z.bits, z.n)
		switch {
		case size == 0:
			return z.undecoded()
		case symbol < endOfBlock:
			z.put(byte(symbol))
			z.use(size)
		case symbol == endOfBlock:
			z.use(size)
			z.state = (*inflater).block
			return nil
		default:
			if err := z.match(symbol-endOfBlock-1, size); err != nil {
				return err
			}
		}
	}
	return nil
}

// undecoded: no code has more than 15 bits.
func (z *inflater) undecoded() error {
	if z.n >= 48 {
		return errCorrupt
	}
	return errMore
}

// match copies from what was made (RFC 1951 3.2.5). It uses no bits unless it
// has all it needs: 48 at the most.
func (z *inflater) match(symbol, used uint) error {
	if symbol >= uint(len(lengths)) {
		return errCorrupt
	}
	l := lengths[symbol]
	length := l.base + uint(z.bits>>used)&(1<<l.extra-1)
	if used += l.extra; used > z.n {
		return errMore
	}
	symbol, size := z.distances.decode(z.bits>>used, z.n-used)
	if size == 0 {
		return z.undecoded()
	}
	if symbol >= uint(len(distances)) {
		return errCorrupt
	}
	used += size
	d := distances[symbol]
	distance := int(d.base + uint(z.bits>>used)&(1<<d.extra-1))
	if used += d.extra; used > z.n {
		return errMore
	}
	if distance > min(z.made, len(z.window)) {
		return errCorrupt
	}
	z.use(used)
	for range length {
		z.put(z.window[(z.made-distance)&(len(z.window)-1)])
	}
	return nil
}

// storedBlocks appends p to dst as blocks that are stored as they are, and the
// empty one that some readers, Go's own among them, wait for before they give
// out what they have.
func storedBlocks(dst, p []byte) []byte {
	for {
		n := min(len(p), 1<<16-1)
		dst = append(dst, 0)
		dst = binary.LittleEndian.AppendUint16(dst, uint16(n))
		dst = binary.LittleEndian.AppendUint16(dst, ^uint16(n))
		dst = append(dst, p[:n]...)
		if n == 0 {
			return dst
		}
		p = p[n:]
	}
}
