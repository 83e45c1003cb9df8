package ber

import (
	"slices"
	"strconv"
	"strings"
)

// Bytes returns the value of an octet string or a character string. It joins
// the segments of a constructed string.
func (e Element) Bytes() ([]byte, error) { return e.join(0) }

func (e Element) join(depth int) ([]byte, error) {
	if !e.Constructed {
		return e.Value, nil
	}
	if depth > MaxDepth {
		return nil, malformed("string of more than %d levels", MaxDepth)
	}
	var all []byte
	for b := e.Value; len(b) > 0; {
		segment, rest, err := Cut(b)
		if err != nil {
			return nil, err
		}
		text, err := segment.join(depth + 1)
		if err != nil {
			return nil, err
		}
		all, b = append(all, text...), rest
	}
	return all, nil
}

// Int returns the value of an integer. Values outside of int64 are an error.
func (e Element) Int() (n int64, err error) {
	if e.Constructed || len(e.Value) == 0 || len(e.Value) > 8 {
		return 0, malformed("integer of %d bytes", len(e.Value))
	}
	n = int64(int8(e.Value[0]))
	for _, c := range e.Value[1:] {
		n = n<<8 | int64(c)
	}
	return n, nil
}

// Bool returns the value of a boolean.
func (e Element) Bool() (bool, error) {
	if e.Constructed || len(e.Value) != 1 {
		return false, malformed("boolean of %d bytes", len(e.Value))
	}
	return e.Value[0] != 0, nil
}

// Bit reports whether bit n of a bit string is set. Bit 0 is the first one.
func (e Element) Bit(n int) bool {
	return !e.Constructed && 1+n/8 < len(e.Value) && e.Value[1+n/8]&(0x80>>(n%8)) != 0
}

// maxOID is the maximum length of an encoded object identifier in bytes.
const maxOID = 64

// OID returns an object identifier in its dotted form, such as "1.2.840".
func (e Element) OID() (string, error) {
	if e.Constructed || len(e.Value) == 0 || len(e.Value) > maxOID || e.Value[len(e.Value)-1] >= 0x80 {
		return "", malformed("object identifier of %d bytes", len(e.Value))
	}
	var text strings.Builder
	var n uint64
	for _, c := range e.Value {
		if n >= 1<<56 {
			return "", malformed("object identifier with a part that does not fit")
		}
		if n = n<<7 | uint64(c&0x7F); c >= 0x80 {
			continue
		}
		if text.Len() == 0 {
			first := min(n/40, 2)
			text.WriteString(strconv.FormatUint(first, 10))
			n -= 40 * first
		}
		text.WriteString("." + strconv.FormatUint(n, 10))
		n = 0
	}
	return text.String(), nil
}

// encode returns the encoding of an element with the given class, form and tag.
// Its value consists of the concatenated parts.
func encode(class Class, form byte, tag uint32, parts [][]byte) []byte {
	var b []byte
	if tag < 0x1F {
		b = append(b, byte(class)|form|byte(tag))
	} else {
		b = appendBase128(append(b, byte(class)|form|0x1F), uint64(tag))
	}
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if n < 0x80 {
		b = append(b, byte(n))
	} else {
		size := len(unsigned(uint64(n)))
		b = append(append(b, 0x80|byte(size)), unsigned(uint64(n))...)
	}
	return slices.Concat(append([][]byte{b}, parts...)...)
}

// unsigned returns the big-endian form of n without leading zeros.
func unsigned(n uint64) (b []byte) {
	for ; n > 0; n >>= 8 {
		b = append(b, byte(n))
	}
	slices.Reverse(b)
	return b
}

func appendBase128(dst []byte, n uint64) []byte {
	b := []byte{byte(n & 0x7F)}
	for n >>= 7; n > 0; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	slices.Reverse(b)
	return append(dst, b...)
}

// Constructed returns the encoding of an element that contains other elements.
// The parts are the encodings of the inner elements.
func Constructed(class Class, tag uint32, parts ...[]byte) []byte {
	return encode(class, constructed, tag, parts)
}

// Group returns the encoding of a constructed element with a context-specific
// tag. The parts are the encodings of the inner elements.
func Group(tag uint32, parts ...[]byte) []byte {
	return encode(Context, constructed, tag, parts)
}

// SequenceOf returns the encoding of a sequence. The parts are the encodings of
// its elements.
func SequenceOf(parts ...[]byte) []byte {
	return encode(Universal, constructed, Sequence, parts)
}

// Primitive returns the encoding of a primitive element.
func Primitive(class Class, tag uint32, value []byte) []byte {
	return encode(class, 0, tag, [][]byte{value})
}

// String returns the encoding of a text with a context-specific tag.
func String(tag uint32, text string) []byte { return Primitive(Context, tag, []byte(text)) }

// Number returns the encoding of an integer with a context-specific tag.
func Number(tag uint32, n int64) []byte { return Primitive(Context, tag, IntValue(n)) }

// Truth returns the encoding of a boolean with a context-specific tag.
func Truth(tag uint32, b bool) []byte {
	if b {
		return Primitive(Context, tag, []byte{0xFF})
	}
	return Primitive(Context, tag, []byte{0})
}

// IntValue encodes n as the value of an integer element, in the shortest form.
func IntValue(n int64) []byte {
	b := []byte{byte(n)}
	for n < -0x80 || n > 0x7F {
		n >>= 8
		b = append(b, byte(n))
	}
	slices.Reverse(b)
	return b
}

// OIDValue encodes a dotted object identifier as the value of an element. The
// dotted form must be valid, and its first part 0 or 1.
func OIDValue(dotted string) (b []byte) {
	var first uint64
	for i, part := range strings.Split(dotted, ".") {
		n, _ := strconv.ParseUint(part, 10, 64)
		switch i {
		case 0:
			first = n
		case 1:
			b = appendBase128(b, 40*first+n)
		default:
			b = appendBase128(b, n)
		}
	}
	return b
}
