// Package oncrpc encodes calls and decodes replies of ONC RPC version 2 (RFC
// 5531) over TCP. The data is encoded in XDR (RFC 4506). All lengths that the
// peer sends are limited.
package oncrpc

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrMalformed is wrapped by every error about invalid bytes.
var ErrMalformed = errors.New("malformed message")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// AppendUint32 appends v to dst as four bytes.
func AppendUint32(dst []byte, v uint32) []byte { return binary.BigEndian.AppendUint32(dst, v) }

// AppendUint64 appends v to dst as eight bytes.
func AppendUint64(dst []byte, v uint64) []byte { return binary.BigEndian.AppendUint64(dst, v) }

// AppendOpaque appends v to dst, as opaque data of variable length or as a
// string.
func AppendOpaque[T string | []byte](dst []byte, v T) []byte {
	dst = append(AppendUint32(dst, uint32(len(v))), v...)
	return append(dst, make([]byte, padding(len(v)))...)
}

// padding returns the number of zero bytes that XDR adds after n bytes of data.
func padding(n int) int { return -n & 3 }

// A Decoder decodes XDR. After an error, all methods return zero values. Values
// share memory with the decoded bytes.
type Decoder struct {
	b   []byte
	err error
}

// NewDecoder returns a Decoder for b.
func NewDecoder(b []byte) *Decoder { return &Decoder{b: b} }

// Err returns the first error.
func (d *Decoder) Err() error { return d.err }

// Fail records an error. If there already is an error, Fail does nothing.
func (d *Decoder) Fail(format string, args ...any) {
	if d.err == nil {
		d.err = malformed(format, args...)
	}
}

// Rest returns the bytes that are not decoded yet.
func (d *Decoder) Rest() []byte { return d.b }

// Fixed returns the next n bytes and skips their padding.
func (d *Decoder) Fixed(n int) []byte {
	if d.err == nil && n+padding(n) > len(d.b) {
		d.Fail("%d bytes expected, %d left", n, len(d.b))
	}
	if d.err != nil {
		return nil
	}
	v := d.b[:n:n]
	d.b = d.b[n+padding(n):]
	return v
}

// Uint32 decodes the next four bytes as a number.
func (d *Decoder) Uint32() uint32 {
	if b := d.Fixed(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// Uint64 decodes the next eight bytes as a number.
func (d *Decoder) Uint64() uint64 {
	if b := d.Fixed(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// Bool decodes the next boolean.
func (d *Decoder) Bool() bool {
	v := d.Uint32()
	if v > 1 {
		d.Fail("boolean with the value %d", v)
	}
	return v == 1 && d.err == nil
}

// Opaque decodes the next opaque data of variable length. More than limit bytes
// are an error.
func (d *Decoder) Opaque(limit int) []byte {
	n := d.Uint32()
	if uint64(n) > uint64(limit) {
		d.Fail("%d bytes exceed the limit of %d", n, limit)
		return nil
	}
	return d.Fixed(int(n))
}
