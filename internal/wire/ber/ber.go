// Package ber encodes and decodes elements in the Basic Encoding Rules of ASN.1
// (ITU-T X.690), as Z39.50 and LDAP use them.
//
// [Read] reads one element from a connection, with a limit for its size. The
// methods of [Element] decode its value. Elements share memory with the bytes
// that they were decoded from. Nesting is limited to [MaxDepth] levels.
package ber

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrMalformed is wrapped by every error about invalid bytes.
var ErrMalformed = errors.New("malformed element")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// MaxDepth is the maximum nesting of elements.
const MaxDepth = 40

// A Class is the class of a tag.
type Class byte

// The classes of tags.
const (
	Universal   Class = 0x00
	Application Class = 0x40
	Context     Class = 0x80
	Private     Class = 0xC0
)

// Universal tags.
const (
	Boolean       = 1
	Integer       = 2
	BitString     = 3
	OctetString   = 4
	Null          = 5
	OID           = 6
	External      = 8
	Enumerated    = 10
	UTF8String    = 12
	Sequence      = 16
	Set           = 17
	VisibleString = 26
	GeneralString = 27
)

// constructed is the bit of an identifier that marks an element with inner elements.
const constructed = 0x20

// An Element is a tag and a value.
type Element struct {
	Class       Class
	Tag         uint32
	Constructed bool   // Value is a sequence of elements
	Value       []byte // content, without the end-of-contents octets of an indefinite length
}

// Is reports whether the element has the given context-specific tag.
func (e Element) Is(tag uint32) bool { return e.Class == Context && e.Tag == tag }

// IsUniversal reports whether the element has the given universal tag.
func (e Element) IsUniversal(tag uint32) bool { return e.Class == Universal && e.Tag == tag }

// String describes the tag of the element, for error messages.
func (e Element) String() string {
	return map[Class]string{Universal: "universal ", Application: "application ", Context: "", Private: "private "}[e.Class] +
		strconv.FormatUint(uint64(e.Tag), 10)
}

// header is the decoded identifier and length at the start of an element.
type header struct {
	Element
	length int // -1: indefinite
	size   int // bytes of the header
}

// maxLength is the largest length of an element. It fits into an int of 32
// bits.
const maxLength = 1<<31 - 1

// parseHeader decodes the header at the beginning of b. The result ok is false
// if b contains only a part of the header.
func parseHeader(b []byte) (h header, ok bool, err error) {
	if len(b) == 0 {
		return h, false, nil
	}
	h.Class, h.Constructed, h.Tag, h.size = Class(b[0]&0xC0), b[0]&constructed != 0, uint32(b[0]&0x1F), 1
	if h.Tag == 0x1F {
		for h.Tag = 0; ; h.size++ {
			switch {
			case h.size == len(b):
				return h, false, nil
			case h.Tag >= 1<<21:
				return h, false, malformed("tag does not fit")
			case h.Tag == 0 && b[h.size] == 0x80: // X.690 section 8.1.2.4.2
				return h, false, malformed("tag with leading zeros")
			}
			h.Tag = h.Tag<<7 | uint32(b[h.size]&0x7F)
			if b[h.size] < 0x80 {
				h.size++
				break
			}
		}
	}
	return h.parseLength(b)
}

func (h header) parseLength(b []byte) (_ header, ok bool, err error) {
	if h.size == len(b) {
		return h, false, nil
	}
	first := b[h.size]
	h.size++
	switch {
	case first < 0x80:
		h.length = int(first)
		return h, true, nil
	case first == 0x80 && h.Constructed:
		h.length = -1
		return h, true, nil
	case first == 0x80 || first > 0x88:
		return h, false, malformed("invalid length of element %v", h.Element)
	}
	for range first & 0x7F {
		switch {
		case h.size == len(b):
			return h, false, nil
		case h.length > maxLength>>8:
			return h, false, malformed("length of element %v does not fit", h.Element)
		}
		h.length = h.length<<8 | int(b[h.size])
		h.size++
	}
	return h, true, nil
}

// isEnd reports whether h is the end-of-contents marker, which ends an element
// of indefinite length.
func (h header) isEnd() bool {
	return h.Class == Universal && h.Tag == 0 && !h.Constructed && h.length == 0
}

// Cut decodes the first element of b and returns the bytes after it.
func Cut(b []byte) (e Element, rest []byte, err error) {
	h, size, err := measure(b, 0)
	if err != nil {
		return e, nil, err
	}
	e = h.Element
	if h.length < 0 {
		e.Value = b[h.size : size-2 : size-2]
	} else {
		e.Value = b[h.size:size:size]
	}
	return e, b[size:], nil
}

// measure returns the header of the first element of b and the size of the
// complete element.
func measure(b []byte, depth int) (h header, size int, err error) {
	h, ok, err := parseHeader(b)
	switch {
	case err != nil:
		return h, 0, err
	case !ok:
		return h, 0, malformed("element is cut")
	case depth > MaxDepth:
		return h, 0, malformed("more than %d levels of elements", MaxDepth)
	case h.length >= 0:
		if h.length > len(b)-h.size {
			return h, 0, malformed("element %v of %d bytes in %d", h.Element, h.length, len(b)-h.size)
		}
		return h, h.size + h.length, nil
	}
	for at := h.size; ; {
		inner, n, err := measure(b[at:], depth+1)
		if err != nil {
			return h, 0, err
		}
		if at += n; inner.isEnd() {
			return h, at, nil
		}
	}
}

// Children returns the elements in a constructed element. It returns an error
// if the element is primitive or has more than limit elements.
func (e Element) Children(limit int) (all []Element, err error) {
	if !e.Constructed {
		return nil, malformed("element %v has no elements", e)
	}
	for b := e.Value; len(b) > 0; {
		var child Element
		if child, b, err = Cut(b); err != nil {
			return nil, err
		}
		if len(all) == limit {
			return nil, malformed("more than %d elements in element %v", limit, e)
		}
		all = append(all, child)
	}
	return all, nil
}

// Only returns the single element inside e, which has an explicit tag. It
// returns an error if e does not contain exactly one element.
func (e Element) Only() (Element, error) {
	all, err := e.Children(1)
	if err == nil && len(all) == 0 {
		err = malformed("element %v is empty", e)
	}
	if err != nil {
		return Element{}, err
	}
	return all[0], nil
}
