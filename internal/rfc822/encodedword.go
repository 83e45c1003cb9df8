package rfc822

import (
	"io"
	"mime"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
)

// WordDecoder returns a decoder for encoded words (RFC 2047). It supports all
// charsets of the WHATWG Encoding Standard.
func WordDecoder() *mime.WordDecoder {
	return &mime.WordDecoder{CharsetReader: func(name string, r io.Reader) (io.Reader, error) {
		e, err := htmlindex.Get(name)
		if err != nil {
			return nil, err
		}
		return e.NewDecoder().Reader(r), nil
	}}
}

// DecodeWords decodes the encoded words in a header field. It returns a value
// with an unknown charset unchanged.
func DecodeWords(value string) string {
	if !strings.Contains(value, "=?") {
		return value
	}
	if decoded, err := WordDecoder().DecodeHeader(value); err == nil {
		return decoded
	}
	return value
}
