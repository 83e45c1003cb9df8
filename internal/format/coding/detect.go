package coding

import (
	"bytes"
	"errors"
	"io"

	"github.com/andybalholm/brotli"
)

// minText is the minimum number of decoded bytes of a document that Detect
// recognizes as Brotli. A few other bytes are often valid Brotli data too.
const minText = 16

// Detect returns the content coding of a document that begins with start: gzip,
// zstd, br, or "" for none. Some servers compress documents without a
// Content-Encoding field, and stored files have no fields. Brotli data has no
// signature, so Detect returns br only if start is not text and its decoded form
// is text.
func Detect(start []byte) string {
	switch {
	case bytes.HasPrefix(start, []byte("\x1f\x8b\x08")):
		return "gzip"
	case bytes.HasPrefix(start, []byte("\x28\xb5\x2f\xfd")):
		return "zstd"
	case len(start) == 0 || isText(start):
		return ""
	}
	text := make([]byte, 512)
	n, err := io.ReadFull(brotli.NewReader(bytes.NewReader(start)), text)
	truncated := err == nil || errors.Is(err, io.ErrUnexpectedEOF)
	if n < minText || !truncated || !isText(text[:n]) {
		return ""
	}
	return "br"
}

// isText reports whether start has no control characters other than white space
// and ESC, which occurs in ISO-2022-JP.
func isText(start []byte) bool {
	for _, c := range start {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\x1b' {
			return false
		}
	}
	return true
}
