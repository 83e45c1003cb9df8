package coding

import (
	"bufio"
	"compress/flate"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
)

// A member decodes the members of a gzip stream (RFC 1952), one at a time. It
// skips the name, the comment and the extra field of a header, up to freeRatio
// bytes. Package compress/gzip is not used, because it rejects headers with
// more than 512 bytes of text.
type member struct {
	in           *bufio.Reader
	inflated     io.ReadCloser
	digest, size uint32 // CRC-32 and number of the decoded bytes
	err          error  // returned by Read until the next member starts
}

var (
	errHeader   = errors.New("invalid gzip header")
	errChecksum = errors.New("invalid gzip checksum")
)

// Header flags (RFC 1952 section 2.3.1).
const (
	hasDigest = 1 << (iota + 1)
	hasExtra
	hasName
	hasComment
)

// next reads the header of the next gzip member. After next, Read returns the
// contents of this member and then io.EOF.
func (z *member) next() error {
	h := header{in: z.in}
	fixed := h.read(10)
	if h.err == nil && (fixed[0] != 0x1f || fixed[1] != 0x8b || fixed[2] != 8) {
		return errHeader
	}
	if flags := fixed[3]; h.err == nil {
		h.skipFields(flags)
	}
	if h.err != nil {
		return line.UnexpectedEOF(h.err)
	}
	z.digest, z.size, z.err = 0, 0, nil
	if z.inflated == nil {
		z.inflated = flate.NewReader(z.in)
		return nil
	}
	return z.inflated.(flate.Resetter).Reset(z.in, nil)
}

// A header parses the header of a gzip member. It stores the first error.
type header struct {
	in     *bufio.Reader
	digest uint32
	text   int // number of bytes of the name and the comment
	err    error
}

// read reads the next n bytes of a gzip header. n must not exceed 10.
func (h *header) read(n int) (p [10]byte) {
	if h.err == nil {
		_, h.err = io.ReadFull(h.in, p[:n])
		h.digest = crc32.Update(h.digest, crc32.IEEETable, p[:n])
	}
	return p
}

// skipFields skips the optional fields of a gzip header. The bits of flags
// indicate which fields are present.
func (h *header) skipFields(flags byte) {
	if flags&hasExtra != 0 {
		size := h.read(2)
		for left := int(binary.LittleEndian.Uint16(size[:])); left > 0 && h.err == nil; left -= 10 {
			h.read(min(left, 10))
		}
	}
	for _, flag := range [...]byte{hasName, hasComment} {
		if flags&flag != 0 {
			h.skipText()
		}
	}
	if want := uint16(h.digest); flags&hasDigest != 0 {
		if got := h.read(2); h.err == nil && binary.LittleEndian.Uint16(got[:]) != want {
			h.err = errHeader
		}
	}
}

// skipText skips a field of a gzip header that ends in NUL.
func (h *header) skipText() {
	for again := h.err == nil; again; again = h.err == bufio.ErrBufferFull {
		var part []byte
		part, h.err = h.in.ReadSlice(0)
		h.digest = crc32.Update(h.digest, crc32.IEEETable, part)
		if h.text += len(part); h.text > freeRatio {
			h.err = fetch.TooLarge.Errorf("gzip header larger than %d bytes", freeRatio)
		}
	}
}

func (z *member) Read(p []byte) (n int, err error) {
	if z.err != nil {
		return 0, z.err
	}
	n, z.err = z.inflated.Read(p)
	z.digest = crc32.Update(z.digest, crc32.IEEETable, p[:n])
	z.size += uint32(n)
	if z.err == io.EOF {
		z.err = z.trailer()
	}
	return n, z.err
}

// trailer verifies the checksum and the size at the end of a gzip member. It
// returns io.EOF if both match.
func (z *member) trailer() error {
	var p [8]byte
	if _, err := io.ReadFull(z.in, p[:]); err != nil {
		return line.UnexpectedEOF(err)
	}
	if binary.LittleEndian.Uint32(p[:]) != z.digest || binary.LittleEndian.Uint32(p[4:]) != z.size {
		return errChecksum
	}
	return io.EOF
}
