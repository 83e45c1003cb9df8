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
	r              io.Reader
	in             [4 << 10]byte
	inStart, inEnd int // in[start:end] is read but not yet among bits

	bits       uint64 // the next bits, the lowest first
	bitCount   uint   // how many
	state      func(*inflater) error
	final      bool
	storedLeft int // of a stored block

	literals, distances huffman
	window              [1 << 15]byte
	consumed, produced  int // bytes in all; window holds the last of those made
	err                 error
}

func newInflater(r io.Reader) *inflater { return &inflater{r: r, state: (*inflater).blockHeader} }

// enough is how much may wait to be given out: a copy of 258 bytes must still
// fit into the window.
const maxUnread = 1<<15 - 258

func (z *inflater) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for z.err == nil && z.produced-z.consumed < maxUnread {
		if err := z.state(z); err == errNeedInput {
			if z.produced > z.consumed {
				break
			}
			z.err = z.fill()
		} else if err != nil {
			z.err = err
		}
	}
	if z.produced == z.consumed {
		err := z.err
		if errors.Is(err, os.ErrDeadlineExceeded) {
			z.err = nil // the connection is as good as before
		}
		return 0, err
	}
	at := z.consumed & (len(z.window) - 1)
	n := copy(p, z.window[at:min(len(z.window), at+z.produced-z.consumed)])
	z.consumed += n
	return n, nil
}

// moreError is what states say that can do nothing with the bits there are,
// and have used none of them.
type needInputError struct{}

func (needInputError) Error() string { return "more bits are needed" }

var (
	errNeedInput error = needInputError{}
	errCorrupt         = fetch.Protocol.Errorf("corrupt compressed data")
)

// fill waits for bytes.
func (z *inflater) fill() error {
	for range 100 {
		n, err := z.r.Read(z.in[:])
		z.inStart, z.inEnd = 0, n
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
	for z.bitCount <= 56 && z.inStart < z.inEnd {
		z.bits |= uint64(z.in[z.inStart]) << z.bitCount
		z.inStart++
		z.bitCount += 8
	}
}

// take waits for count bits, at the most 16, and uses them.
func (z *inflater) readBits(count uint) (uint, error) {
	for z.refill(); z.bitCount < count; z.refill() {
		if err := z.fill(); err != nil {
			return 0, err
		}
	}
	v := uint(z.bits) & (1<<count - 1)
	z.dropBits(count)
	return v, nil
}

func (z *inflater) dropBits(count uint) {
	z.bits >>= count
	z.bitCount -= count
}

// block reads the head of a block (RFC 1951 3.2.3), once all before it is
// given out.
func (z *inflater) blockHeader() error {
	switch {
	case z.produced > z.consumed:
		return errNeedInput
	case z.final:
		return io.EOF
	}
	head, err := z.readBits(3)
	if err != nil {
		return err
	}
	z.final = head&1 == 1
	switch head >> 1 {
	case 0:
		return z.storedHeader()
	case 1:
		z.setFixedCodes()
	case 2:
		err = z.readCodes()
	default:
		err = errCorrupt
	}
	z.state = (*inflater).decodeSymbols
	return err
}

// stored begins a block of bytes as they are (RFC 1951 3.2.4).
func (z *inflater) storedHeader() error {
	z.dropBits(z.bitCount % 8)
	size, err := z.readBits(16)
	if err != nil {
		return err
	}
	check, err := z.readBits(16)
	if err != nil {
		return err
	}
	if size^check != 1<<16-1 {
		return errCorrupt
	}
	z.storedLeft, z.state = int(size), (*inflater).storedBytes
	return nil
}

func (z *inflater) storedBytes() error {
	for ; z.storedLeft > 0 && z.produced-z.consumed < maxUnread; z.storedLeft-- {
		z.refill()
		if z.bitCount < 8 {
			return errNeedInput
		}
		z.appendByte(byte(z.bits))
		z.dropBits(8)
	}
	if z.storedLeft == 0 {
		z.state = (*inflater).blockHeader
	}
	return nil
}

func (z *inflater) appendByte(c byte) {
	z.window[z.produced&(len(z.window)-1)] = c
	z.produced++
}

// symbols decodes until the end of the block, of the bytes or of the room.
func (z *inflater) decodeSymbols() error {
	for z.produced-z.consumed < maxUnread {
		z.refill()
		symbol, size := z.literals.decode(z.bits, z.bitCount)
		switch {
		case size == 0:
			return z.undecodedError()
		case symbol < endOfBlock:
			z.appendByte(byte(symbol))
			z.dropBits(size)
		case symbol == endOfBlock:
			z.dropBits(size)
			z.state = (*inflater).blockHeader
			return nil
		default:
			if err := z.copyMatch(symbol-endOfBlock-1, size); err != nil {
				return err
			}
		}
	}
	return nil
}

// undecoded: no code has more than 15 bits.
func (z *inflater) undecodedError() error {
	if z.bitCount >= 48 {
		return errCorrupt
	}
	return errNeedInput
}

// match copies from what was made (RFC 1951 3.2.5). It uses no bits unless it
// has all it needs: 48 at the most.
func (z *inflater) copyMatch(symbol, used uint) error {
	if symbol >= uint(len(lengthTable)) {
		return errCorrupt
	}
	l := lengthTable[symbol]
	length := l.base + uint(z.bits>>used)&(1<<l.extra-1)
	if used += l.extra; used > z.bitCount {
		return errNeedInput
	}
	symbol, size := z.distances.decode(z.bits>>used, z.bitCount-used)
	if size == 0 {
		return z.undecodedError()
	}
	if symbol >= uint(len(distanceTable)) {
		return errCorrupt
	}
	used += size
	d := distanceTable[symbol]
	distance := int(d.base + uint(z.bits>>used)&(1<<d.extra-1))
	if used += d.extra; used > z.bitCount {
		return errNeedInput
	}
	if distance > min(z.produced, len(z.window)) {
		return errCorrupt
	}
	z.dropBits(used)
	for range length {
		z.appendByte(z.window[(z.produced-distance)&(len(z.window)-1)])
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
