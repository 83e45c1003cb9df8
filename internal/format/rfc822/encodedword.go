package rfc822

import (
	"io"
	"mime"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
)

// WordDecoder returns a decoder for encoded words in headers (RFC 2047). It
// supports all character sets of the WHATWG Encoding Standard.
func WordDecoder() *mime.WordDecoder {
	return &mime.WordDecoder{CharsetReader: func(name string, r io.Reader) (io.Reader, error) {
		e, err := htmlindex.Get(name)
		if err != nil {
			return nil, err
		}
		return e.NewDecoder().Reader(r), nil
	}}
}

// DecodeWords decodes the encoded words (RFC 2047) in the value of a header
// field. If a character set is unknown, DecodeWords returns the value
// unchanged.
func DecodeWords(value string) string {
	if !strings.Contains(value, "=?") {
		return value
	}
	if decoded, err := WordDecoder().DecodeHeader(value); err == nil {
		return decoded
	}
	return value
}
