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

// ErrMalformed is wrapped by every error about bytes that violate the protocol.
// All other errors come from the source.
var ErrMalformed = errors.New("malformed message")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

const (
	// HeaderSize is the length of a Header in bytes.
	HeaderSize = 25
	// MaxMessage limits the bytes after a Header. A Reader does not keep them
	// in memory.
	MaxMessage = 16 << 20
	// MaxRecord limits one record of a response, and any other PDU, in bytes.
	MaxRecord = 1 << 20
)

// A Header precedes each PDU. AppendMessage replaces zero fields by the usual
// values: 'z', '2', "wais", no compression and no encoding.
type Header struct {
	Length      int    // length of the PDU in bytes; 0: the server could not encode its response
	Type        byte   // 'z' PDU, 'a' ACK, 'n' NAK
	Version     byte   // '2'
	Server      string // free text of at most 10 bytes, echoed by servers
	Compression byte   // ' ' none
	Encoding    byte   // ' ' none
	Checksum    byte   // '0'; never verified
}

// A PDU is an Init, InitResponse, Search or SearchResponse.
type PDU interface {
	// Append appends the PDU without a Header.
	Append(dst []byte) []byte
}

// AppendMessage appends a Header and p. It computes h.Length. A nil p results
// in the empty message of a server that could not encode its response.
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

// ParseHeader parses the HeaderSize bytes of b. Letters may have either case.
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

// Decode decodes the PDU that fills b. The result refers to memory of b.
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

// cutHead splits a PDU into its header, whose length is in the first two bytes,
// and the user information.
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

// appendHead appends the header of a PDU: its type and the bytes that write
// appends.
func appendHead(dst []byte, kind byte, write func([]byte) []byte) []byte {
	start := len(dst)
	dst = write(append(dst, 0, 0, kind))
	n := len(dst) - start - 2
	dst[start], dst[start+1] = byte(n>>8), byte(n)
	return dst
}
