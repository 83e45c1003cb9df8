// Package z3950 implements the messages of WAIS: Z39.50-1988 with the WAIS
// extensions, in the profile of RFC 1625 and in the dialect of freeWAIS-sf 2.2.
// These messages do not use ASN.1, unlike Z39.50 versions 2 and 3.
//
// A message consists of a Header of 25 ASCII bytes and one PDU. AppendMessage
// writes a message. A Reader reads messages from a connection, and the records
// of a search response one at a time. Decode decodes a PDU in memory. Both
// directions are supported, for clients, servers and tests.
//
// Every length is checked against its container, memory is limited by
// MaxRecord, and decoding takes linear time. A nil slice means that an optional
// element is absent. An empty slice means that the element is present and
// empty.
package z3950

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrMalformed is the error for bytes that violate the protocol. Other errors
// wrap it.
var ErrMalformed = errors.New("malformed message")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

const (
	// HeaderSize is the length of a Header in bytes.
	HeaderSize = 25
	// MaxMessage is the maximum length in bytes of a message after its Header.
	MaxMessage = 16 << 20
	// MaxRecord is the maximum length in bytes of a record, and of any other
	// PDU.
	MaxRecord = 1 << 20
)

// A Header is the fixed-length beginning of a message. For fields that are
// zero, AppendMessage writes the usual values.
type Header struct {
	Length      int    // length of the PDU in bytes; 0: the server could not encode its response
	Type        byte   // 'z' PDU, 'a' ACK, 'n' NAK
	Version     byte   // '2'
	Server      string // free text of at most 10 bytes, echoed by servers
	Compression byte   // ' ' none
	Encoding    byte   // ' ' none
	Checksum    byte   // '0'; never verified
}

// A PDU is the content of a message: an Init, InitResponse, Search or
// SearchResponse.
type PDU interface {
	// Append appends the encoded PDU to dst, without a Header.
	Append(dst []byte) []byte
}

// AppendMessage appends a Header and the encoded PDU to dst and returns the
// extended slice. A nil PDU results in an empty message.
func AppendMessage(dst []byte, h Header, p PDU) []byte {
	start := len(dst)
	dst = append(dst, "0000000000"...)
	dst = append(dst, orDefault(h.Type, 'z'), orDefault(h.Version, '2'))
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
	dst = append(dst, orDefault(h.Compression, ' '), orDefault(h.Encoding, ' '), orDefault(h.Checksum, '0'))
	if p != nil {
		dst = p.Append(dst)
	}
	length := strconv.Itoa(len(dst) - start - HeaderSize)
	copy(dst[start+10-len(length):], length)
	return dst
}

func orDefault(c, def byte) byte {
	if c == 0 {
		return def
	}
	return c
}

// ParseHeader decodes a message header of HeaderSize bytes.
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

// Decode decodes the PDU in b, which contains no Header. The PDU shares memory
// with b.
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

// cutHead splits a PDU into its type, its header fields and the remaining
// bytes.
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

// appendHead appends the type and the header of a PDU. The function write
// appends the fields of the header.
func appendHead(dst []byte, kind byte, write func([]byte) []byte) []byte {
	start := len(dst)
	dst = write(append(dst, 0, 0, kind))
	n := len(dst) - start - 2
	dst[start], dst[start+1] = byte(n>>8), byte(n)
	return dst
}
