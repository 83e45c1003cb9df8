package media

import (
	"bufio"
	"io"
	"unicode/utf8"
)

// Charset returns the charset parameter for the media type of the text that r
// has buffered, or "" if the text is ASCII. Text that is not UTF-8 is ISO
// 8859-1, because old protocols such as Gopher and Finger declare no character
// set. Current servers send UTF-8.
func Charset(r *bufio.Reader) string {
	const utf, latin = "; charset=utf-8", "; charset=iso-8859-1"
	w, _ := r.Peek(r.Buffered())
	param := ""
	for len(w) > 0 {
		c, size := utf8.DecodeRune(w)
		switch {
		case c != utf8.RuneError || size > 1:
			if c >= utf8.RuneSelf {
				param = utf
			}
		case utf8.FullRune(w):
			return latin
		default: // truncated UTF-8 sequence: more bytes may follow
			if _, err := r.Peek(r.Buffered() + 1); err == nil {
				return Charset(r)
			} else if err == io.EOF {
				return latin
			}
			return utf
		}
		w = w[size:]
	}
	return param
}
