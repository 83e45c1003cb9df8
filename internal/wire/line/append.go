package line

import "strings"

// MaxCommand is the maximum length of an NNTP command in bytes, including the
// line ending (RFC 3977 section 3.1). FTP servers also accept commands of this
// length.
const MaxCommand = 512

// Append appends a command line to dst and returns the extended slice. The line
// consists of words, separated by single spaces and followed by CRLF. An empty
// word keeps its space, as in the "CWD " of RFC 1738.
//
// If a word contains CR, LF or NUL, Append returns ErrUnsafeByte, because some
// servers would end the line there. If the line including CRLF is longer than
// limit bytes, it returns ErrTooLong. In both cases it returns dst unchanged.
func Append(dst []byte, limit int, words ...string) ([]byte, error) {
	size := len("\r\n") + max(len(words)-1, 0)
	for _, word := range words {
		if size += len(word); size > limit {
			return dst, ErrTooLong
		}
		if strings.ContainsAny(word, "\r\n\x00") {
			return dst, ErrUnsafeByte
		}
	}
	for i, word := range words {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, word...)
	}
	return append(dst, "\r\n"...), nil
}
