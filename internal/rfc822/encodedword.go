package rfc822

import (
	"io"
	"mime"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
)

// WordDecoder returns a decoder of encoded words (RFC 2047) in every charset of
// the WHATWG Encoding Standard.
func WordDecoder() *mime.WordDecoder {
	return &mime.WordDecoder{CharsetReader: func(name string, r io.Reader) (io.Reader, error) {
		e, err := htmlindex.Get(name)
		if err != nil {
			return nil, err
		}
		return e.NewDecoder().Reader(r), nil
	}}
}

// DecodeWords decodes the encoded words of a header field. A value in an
// unknown charset is returned unchanged.
func DecodeWords(value string) string {
	if !strings.Contains(value, "=?") {
		return value
	}
	if decoded, err := WordDecoder().DecodeHeader(value); err == nil {
		return decoded
	}
	return value
}
