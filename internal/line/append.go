package line

import "strings"

// MaxCommand is the longest command that NNTP allows, line end included (RFC
// 3977, section 3.1), and that FTP servers can be trusted to read.
const MaxCommand = 512

// Append appends words, parted by single spaces and ended by CRLF, to dst
// and returns the extended slice: the one line that they make. An empty word
// keeps its space, as in the "CWD " of RFC 1738.
//
// It is ErrUnsafe if a word holds CR, LF or NUL, which would end the line
// early for one server or another, and ErrTooLong if the line with its end
// exceeds limit bytes; dst is then returned as it was.
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
