package http3

import (
	"bufio"
	"encoding/binary"
	"io"
)

// Types of frames (RFC 9114 section 7.2).
const (
	frameData        = 0x0
	frameHeaders     = 0x1
	frameCancelPush  = 0x3
	frameSettings    = 0x4
	framePushPromise = 0x5
	frameGoAway      = 0x7
	frameMaxPushID   = 0xd
)

// A frame without data costs 1, and 1 for each KiB. A server may send frames of
// the cost maxIdleCost between two bytes of a body, and on its control stream.
const maxIdleCost = 10_000

// bufferSize is the size of the buffer of each stream. A larger Read of a body
// bypasses the buffer.
const bufferSize = 4 << 10

// A frameReader reads the frames of a stream.
type frameReader struct {
	r    *bufio.Reader
	cost uint64 // of the frames since the last byte of a body
}

func newFrameReader(r io.Reader) *frameReader {
	return &frameReader{r: bufio.NewReaderSize(r, bufferSize)}
}

// next reads the head of a frame. It returns io.EOF only if the stream ends
// before the frame.
func (f *frameReader) next() (kind, length uint64, err error) {
	if kind, err = readVarint(f.r); err != nil {
		return 0, 0, err
	}
	if length, err = readVarint(f.r); err != nil {
		return 0, 0, truncated(err)
	}
	if kind == frameData && length > 0 {
		f.cost = 0
		return kind, length, nil
	}
	f.cost++
	if kind != frameHeaders && kind != frameSettings { // payload limits these
		f.cost += length >> 10
	}
	if f.cost > maxIdleCost {
		return 0, 0, &Error{Code: excessiveLoad, Text: "server sent too many frames without data"}
	}
	return kind, length, nil
}

// payload returns the content of a frame of at most limit bytes.
func (f *frameReader) payload(length uint64, limit int) ([]byte, error) {
	if length > uint64(limit) {
		return nil, &Error{Code: excessiveLoad, TooLarge: true, Text: "frame is too long"}
	}
	b := make([]byte, length)
	_, err := io.ReadFull(f.r, b)
	return b, truncated(err)
}

// skip discards the content of a frame of an unknown type. The cost of the frame
// has limited its length.
func (f *frameReader) skip(length uint64) error {
	_, err := io.CopyN(io.Discard, f.r, int64(length))
	return truncated(err)
}

// isReserved reports whether a frame has a type of HTTP/2 that HTTP/3 forbids
// (RFC 9114 section 7.2.8).
func isReserved(kind uint64) bool {
	return kind == 0x2 || kind == 0x6 || kind == 0x8 || kind == 0x9
}

// truncated replaces io.EOF, because the stream ended inside a frame.
func truncated(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return &Error{Code: frameError, Truncated: true, Text: "stream ended inside a frame"}
	}
	return err
}

// readVarint reads an integer of variable length (RFC 9000 section 16). It
// returns io.EOF only if the stream ends before the integer.
func readVarint(r *bufio.Reader) (uint64, error) {
	first, err := r.ReadByte()
	if err != nil {
		return 0, err
	}
	n := uint64(first & 0x3f)
	for range 1<<(first>>6) - 1 {
		b, err := r.ReadByte()
		if err != nil {
			return 0, truncated(err)
		}
		n = n<<8 | uint64(b)
	}
	return n, nil
}

// appendVarint appends an integer of variable length.
func appendVarint(b []byte, n uint64) []byte {
	switch {
	case n < 1<<6:
		return append(b, byte(n))
	case n < 1<<14:
		return binary.BigEndian.AppendUint16(b, uint16(n)|1<<14)
	case n < 1<<30:
		return binary.BigEndian.AppendUint32(b, uint32(n)|2<<30)
	}
	return binary.BigEndian.AppendUint64(b, n|3<<62)
}

// appendFrame appends a frame.
func appendFrame(b []byte, kind uint64, payload []byte) []byte {
	return append(appendVarint(appendVarint(b, kind), uint64(len(payload))), payload...)
}
