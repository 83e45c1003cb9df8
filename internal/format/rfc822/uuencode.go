package rfc822

import (
	"encoding/base64"
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// parseUUBegin parses the first line of a uuencoded file: "begin MODE NAME", or
// "begin-base64 MODE NAME" for base64.
func parseUUBegin(text string, in *lines) (*File, bool, error) {
	verb, rest, _ := strings.Cut(text, " ")
	mode, name, ok := strings.Cut(rest, " ")
	if !ok || strings.Trim(mode, "01234567") != "" || len(mode) < 3 || len(mode) > 5 || strings.TrimSpace(name) == "" {
		return nil, false, nil
	}
	f := &File{Name: strings.TrimSpace(name), Size: -1}
	switch verb {
	case "begin":
		f.Body = &pieceReader{next: (&uuDecoder{in: in}).next}
	case "begin-base64":
		f.Body = &pieceReader{next: (&base64Lines{in: in}).next}
	default:
		return nil, false, nil
	}
	return f, true, nil
}

// A uuDecoder decodes the lines of a uuencoded file. The first character of a
// line encodes the number of bytes. Each group of four further characters
// encodes three bytes. The value of a character is its code minus 32, modulo
// 64.
type uuDecoder struct {
	in    *lines
	ended bool // if true, a line of length zero was read and the line "end" must follow
	out   []byte
}

func (u *uuDecoder) next() ([]byte, error) {
	text, complete, err := u.in.next()
	if err != nil {
		return nil, truncated(err)
	}
	if string(text) == "end" {
		return nil, io.EOF
	}
	if u.ended || !complete {
		return nil, fetch.Protocol.Errorf("uuencode: missing line %q", "end")
	}
	if len(text) == 0 {
		u.ended = true // the line was " ", which has length zero, but lost its space in transit
		return nil, nil
	}
	size := int(text[0]-' ') & 63
	if text[0] < ' ' || text[0] > '`' {
		return nil, fetch.Protocol.Errorf("uuencode: invalid length byte %#02x", text[0])
	}
	if u.ended = size == 0; u.ended {
		return nil, nil
	}
	text = text[1:]
	if want := (size + 2) / 3 * 4; len(text) > want+2 { // some encoders append a checksum
		return nil, fetch.Protocol.Errorf("uuencode: line has %d characters for %d bytes", len(text), size)
	}
	return u.decodeLine(text, size)
}

// decodeLine decodes a uuencoded line of size bytes. It treats missing
// characters as spaces, because mail software may remove trailing spaces.
func (u *uuDecoder) decodeLine(text []byte, size int) ([]byte, error) {
	u.out = u.out[:0]
	for len(u.out) < size {
		var bits uint32
		for i := range 4 {
			c := byte(' ')
			if i < len(text) {
				c = text[i]
			}
			if c < ' ' || c > '`' {
				return nil, fetch.Protocol.Errorf("uuencode: invalid byte %#02x", c)
			}
			bits = bits<<6 | uint32(c-' ')&63
		}
		text = text[min(4, len(text)):]
		u.out = append(u.out, byte(bits>>16), byte(bits>>8), byte(bits))
	}
	return u.out[:size], nil
}

// The type base64Lines decodes lines of base64 until the end marker "====".
type base64Lines struct {
	in  *lines
	out []byte
}

func (b *base64Lines) next() ([]byte, error) {
	text, complete, err := b.in.next()
	if err != nil {
		return nil, truncated(err)
	}
	if string(text) == "====" {
		return nil, io.EOF
	}
	if !complete {
		return nil, fetch.Protocol.Errorf("base64: line is longer than %d bytes", bufferSize)
	}
	b.out, err = base64.StdEncoding.AppendDecode(b.out[:0], text)
	return b.out, fetch.Protocol.With(err)
}
