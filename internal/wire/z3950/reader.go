package z3950

import (
	"bufio"
	"bytes"
	"io"

	"github.com/anyurl/fetch/internal/wire/line"
)

// A Reader reads messages from a connection. It keeps one record in memory at a
// time. It is not safe for concurrent use.
//
// After Next, call PDU, or call Response and then Record until io.EOF. Next
// returns an error if the previous message has unread bytes.
type Reader struct {
	src  *bufio.Reader
	left int    // unread bytes of the message
	buf  []byte // memory for the bytes that read returns
}

const (
	window    = 32 << 10
	minWindow = 16 // enough for the bytes that varint peeks at
)

// NewReader returns a Reader with its own buffer, which may read ahead in src.
func NewReader(src io.Reader) *Reader { return &Reader{src: bufio.NewReaderSize(src, window)} }

// Buffered returns the number of bytes that were received but not read. If it
// is not zero between two messages, the server has sent data without a request.
func (r *Reader) Buffered() int { return r.src.Buffered() }

// Next reads the Header of the next message. It returns io.EOF at the end of
// the input and io.ErrUnexpectedEOF for a truncated Header.
func (r *Reader) Next() (Header, error) {
	if r.left > 0 {
		return Header{}, malformed("%d bytes behind a PDU", r.left)
	}
	var b [HeaderSize]byte
	if _, err := io.ReadFull(r.src, b[:]); err != nil {
		return Header{}, err
	}
	h, err := ParseHeader(b[:])
	r.left = h.Length
	return h, err
}

// read returns the next n bytes of the message. The slice is valid until the
// next read.
func (r *Reader) read(n int) ([]byte, error) {
	if n > r.left {
		return nil, malformed("%d bytes where a message has %d left", n, r.left)
	}
	if n > MaxRecord {
		return nil, malformed("record of %d bytes, larger than %d", n, MaxRecord)
	}
	if r.buf == nil || cap(r.buf) < n { // never nil, because nil means that an element is absent
		r.buf = make([]byte, n)
	}
	b := r.buf[:n]
	if _, err := io.ReadFull(r.src, b); err != nil {
		return nil, line.UnexpectedEOF(err)
	}
	r.left -= n
	return b, nil
}

// PDU decodes the complete PDU of the message. The result is valid until the
// next read.
func (r *Reader) PDU() (PDU, error) {
	b, err := r.read(r.left)
	if err != nil {
		return nil, err
	}
	return Decode(b)
}

// Response decodes a SearchResponse up to its records, which Record returns.
func (r *Reader) Response() (*SearchResponse, error) {
	b, err := r.read(2)
	if err != nil {
		return nil, err
	}
	b, err = r.read(int(b[0])<<8 | int(b[1]))
	if err != nil {
		return nil, err
	}
	if len(b) == 0 || b[0] != typeSearchResponse {
		return nil, malformed("no SearchResponse where one is due")
	}
	p := new(SearchResponse)
	if err := p.decodeHead(b[1:]); err != nil {
		return nil, err
	}
	p.Reference = bytes.Clone(p.Reference)
	return p, r.openUser()
}

// openUser reads the tag and the length of the user information, which must
// extend to the end of the message.
func (r *Reader) openUser() error {
	if r.left == 0 {
		return nil
	}
	tag, err := r.varint()
	if err != nil {
		return err
	}
	n, err := r.varint()
	switch {
	case err != nil:
		return err
	case tag != tagUserInformation:
		return malformed("user information has tag %d, not %d", tag, tagUserInformation)
	case uint64(n) != uint64(r.left):
		return malformed("user information of %d bytes where a message has %d left", n, r.left)
	}
	return nil
}

// varint decodes an integer in base 128. It consumes only the bytes of the
// integer.
func (r *Reader) varint() (uint32, error) {
	for n := 1; n <= r.left; n++ {
		w, err := r.src.Peek(n)
		if err != nil {
			return 0, line.UnexpectedEOF(err)
		}
		if w[n-1] < 0x80 || n == maxVarint {
			v, _, err := cutVarint(w)
			r.src.Discard(n)
			r.left -= n
			return v, err
		}
	}
	return 0, malformed("tag or length is cut")
}

// Record reads the next record, or returns io.EOF at the end of the message.
// The slices of the record are valid until the next read.
func (r *Reader) Record() (rec Record, err error) {
	for r.left > 0 {
		known := false
		if rec, known, err = r.record(); err != nil || known {
			return rec, err
		}
	}
	return rec, io.EOF
}

func (r *Reader) record() (rec Record, known bool, err error) {
	first, err := r.src.Peek(1)
	if err != nil {
		return rec, false, line.UnexpectedEOF(err)
	}
	if first[0] == tagDiagnostic { // a diagnostic is not an element; its length is a plain 16-bit number
		b, err := r.read(3)
		if err != nil {
			return rec, false, err
		}
		b, err = r.read((int(b[1])<<8 | int(b[2])) + 1)
		if err != nil {
			return rec, false, err
		}
		return rec, true, rec.readDiagnostic(b)
	}
	tag, err := r.varint()
	if err != nil {
		return rec, false, err
	}
	n, err := r.varint()
	if err != nil {
		return rec, false, err
	}
	if uint64(n) > uint64(r.left) {
		return rec, false, malformed("element %d of %d bytes in %d", tag, n, r.left)
	}
	b, err := r.read(int(n))
	if err != nil {
		return rec, false, err
	}
	known, err = rec.read(tag, b)
	return rec, known, err
}
