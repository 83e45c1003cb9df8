package nntp

import (
	"encoding/binary"
	"errors"
	"io"
	"os"

	"github.com/anyurl/fetch/fetch"
)

// An inflater decompresses a DEFLATE stream (RFC 1951) of a session. Before it
// waits for more input, Read returns all bytes that can be decompressed from
// the available input. INN ends its responses with the partial flush of zlib,
// which withholds some bits. The decompressors of the standard library and of
// klauspost/compress would wait for these bits (doc/design/007-news.md).
type inflater struct {
	r              io.Reader
	in             [4 << 10]byte
	inStart, inEnd int // in[inStart:inEnd] was not yet moved to the field bits

	bits       uint64 // next input bits, starting at the lowest bit
	bitCount   uint   // number of valid bits in the field bits
	state      func(*inflater) error
	final      bool
	storedLeft int // remaining bytes of a stored block

	literals, distances huffman
	window              [1 << 15]byte
	consumed, produced  int // total bytes; window holds the most recently produced bytes
	err                 error
}

func newInflater(r io.Reader) *inflater { return &inflater{r: r, state: (*inflater).blockHeader} }

// maxUnread limits the decompressed bytes that Read has not yet returned. It
// leaves space in the window for the longest copy, which has 258 bytes.
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
			z.err = nil // the connection is still usable
		}
		return 0, err
	}
	offset := z.consumed & (len(z.window) - 1)
	n := copy(p, z.window[offset:min(len(z.window), offset+z.produced-z.consumed)])
	z.consumed += n
	return n, nil
}

// A needInputError means that a state function needs more input bits than are
// available. The function has consumed no bits of the incomplete item.
type needInputError struct{}

func (needInputError) Error() string { return "more bits are needed" }

var (
	errNeedInput error = needInputError{}
	errCorrupt         = fetch.Protocol.Errorf("corrupt compressed data")
)

// fill reads more input from r.
func (z *inflater) fill() error {
	for range 100 {
		n, err := z.r.Read(z.in[:])
		z.inStart, z.inEnd = 0, n
		if n > 0 {
			return nil // a persistent error is returned again by the next Read
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

// refill moves available input bytes into z.bits. Afterwards z.bits has at
// least 56 valid bits, unless the input is too short.
func (z *inflater) refill() {
	for z.bitCount <= 56 && z.inStart < z.inEnd {
		z.bits |= uint64(z.in[z.inStart]) << z.bitCount
		z.inStart++
		z.bitCount += 8
	}
}

// readBits reads count bits, at most 16, and waits for input if necessary.
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

// blockHeader reads the header of a block (RFC 1951 3.2.3). It first waits
// until Read has returned all decompressed bytes.
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

// storedHeader reads the length of a stored block (RFC 1951 3.2.4).
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

// decodeSymbols decodes symbols until the block ends, the input ends or the
// window is full.
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

// undecodedError returns the error for bits that contain no complete code. If
// 48 or more bits are available, the data is corrupt, because a code has at
// most 15 bits.
func (z *inflater) undecodedError() error {
	if z.bitCount >= 48 {
		return errCorrupt
	}
	return errNeedInput
}

// copyMatch repeats earlier output, as specified by a length symbol and a
// distance (RFC 1951 3.2.5). Length and distance have at most 48 bits. If some
// of these bits are not yet available, copyMatch consumes no bits.
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

// storedBlocks appends p to dst as stored DEFLATE blocks, which are not
// compressed. It also appends an empty block, because some decompressors, such
// as compress/flate, otherwise wait for more data.
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
