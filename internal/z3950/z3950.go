// Package z3950 is the wire of WAIS: Z39.50-1988 with the WAIS extensions, as
// RFC 1625 profiles it and freeWAIS-sf 2.2 speaks it. It is not Z39.50 version
// 2 or 3: there is no ASN.1 in it.
//
// A message is a Header of 25 bytes of ASCII and one PDU. AppendMessage writes
// one; a Reader reads them from a connection, the records of a search response
// one at a time. Decode reads a PDU that is in memory: both directions, for
// servers and tests.
//
// Every length is checked against what holds it, memory is bounded by
// MaxRecord, and time is linear in what is read. Of optional elements nil is
// absent and an empty slice is present and empty; for numbers see Number.
package z3950

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrMalformed stands in the chain of every error about bytes that break the
// protocol. All other errors are those of the source.
var ErrMalformed = errors.New("malformed message")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

const (
	// HeaderSize is the length of a Header in bytes.
	HeaderSize = 25
	// MaxMessage bounds what follows a Header, in bytes. Readers do not hold
	// it in memory.
	MaxMessage = 16 << 20
	// MaxRecord bounds one record of a response, and any other PDU, in bytes.
	MaxRecord = 1 << 20
)

// A Header stands before each PDU. In AppendMessage a zero field is the usual
// one: 'z', '2', "wais", and neither compression nor encoding.
type Header struct {
	Length      int    // of the PDU in bytes; 0: the server could not encode its answer
	Type        byte   // 'z' PDU, 'a' ACK, 'n' NAK
	Version     byte   // '2'
	Server      string // free text of at most 10 bytes, echoed by servers
	Compression byte   // ' ' none
	Encoding    byte   // ' ' none
	Checksum    byte   // '0'; nobody checks it
}

// A PDU is an Init, InitResponse, Search or SearchResponse.
type PDU interface {
	// Append appends the PDU without a Header.
	Append(dst []byte) []byte
}

// AppendMessage appends a Header and p; h.Length does not count. A nil p makes
// the empty message of a server that could not encode its answer.
func AppendMessage(dst []byte, h Header, p PDU) []byte {
	start := len(dst)
	dst = append(dst, "0000000000"...)
	dst = append(dst, usual(h.Type, 'z'), usual(h.Version, '2'))
	if h.Server == "" {
		h.Server = "wais"
	}
	for i := range 10 {
		if i < len(h.Server) {
			dst = append(dst, h.Server[i])
		} else {
			dst = append(dst, ' ')
		}
	}
	dst = append(dst, usual(h.Compression, ' '), usual(h.Encoding, ' '), usual(h.Checksum, '0'))
	if p != nil {
		dst = p.Append(dst)
	}
	length := strconv.Itoa(len(dst) - start - HeaderSize)
	copy(dst[start+10-len(length):], length)
	return dst
}

func usual(c, what byte) byte {
	if c == 0 {
		return what
	}
	return c
}

// ParseHeader reads the HeaderSize bytes of b. Letters may be of either case.
func ParseHeader(b []byte) (h Header, err error) {
	if len(b) != HeaderSize {
		return h, malformed("header of %d bytes", len(b))
	}
	n := uint64(0)
	for _, c := range b[:10] {
		if c < '0' || c > '9' {
			return h, malformed("length of a message is no number")
		}
		n = n*10 + uint64(c-'0')
	}
	if n > MaxMessage {
		return h, malformed("message of %d bytes, larger than %d", n, MaxMessage)
	}
	h = Header{int(n), lower(b[10]), b[11], string(b[12:22]), lower(b[22]), lower(b[23]), b[24]}
	switch {
	case h.Type != 'z' && h.Type != 'a' && h.Type != 'n':
		return h, malformed("message of type %q", h.Type)
	case h.Version != '1' && h.Version != '2':
		return h, malformed("message of version %q", h.Version)
	case h.Compression != ' ' || h.Encoding != ' ':
		return h, malformed("message is compressed or encoded: %q", b[22:24])
	}
	return h, nil
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// The types of PDU.
const (
	typeInit           = 20
	typeInitResponse   = 21
	typeSearch         = 22
	typeSearchResponse = 23
)

// Decode reads one PDU from b, which it must fill. The result holds parts of b.
func Decode(b []byte) (PDU, error) {
	kind, fields, rest, err := cutHead(b)
	if err != nil {
		return nil, err
	}
	var p interface {
		PDU
		decode(fields, rest []byte) error
	}
	switch kind {
	case typeInit:
		p = new(Init)
	case typeInitResponse:
		p = new(InitResponse)
	case typeSearch:
		p = new(Search)
	case typeSearchResponse:
		p = new(SearchResponse)
	default:
		return nil, malformed("PDU of type %d", kind)
	}
	if err := p.decode(fields, rest); err != nil {
		return nil, err
	}
	return p, nil
}

// cutHead parts the header of a PDU, as long as its first two bytes say, from
// the user information behind it.
func cutHead(b []byte) (kind byte, fields, rest []byte, err error) {
	if len(b) < 3 {
		return 0, nil, nil, malformed("PDU of %d bytes", len(b))
	}
	n := int(b[0])<<8 | int(b[1])
	if n < 1 || n > len(b)-2 {
		return 0, nil, nil, malformed("PDU header of %d bytes in %d", n, len(b)-2)
	}
	return b[2], b[3 : 2+n], b[2+n:], nil
}

// appendHead appends the header of a PDU: its type and what write appends.
func appendHead(dst []byte, kind byte, write func([]byte) []byte) []byte {
	start := len(dst)
	dst = write(append(dst, 0, 0, kind))
	n := len(dst) - start - 2
	dst[start], dst[start+1] = byte(n>>8), byte(n)
	return dst
}
