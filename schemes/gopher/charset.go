package gopher

import (
	"bufio"
	"io"
	"unicode/utf8"
)

// charset returns a charset parameter for the media type of the buffered text,
// or "" if the text is ASCII. Gopher responses do not declare a character set.
// RFC 1436 suggests ISO 8859-1, but current servers send UTF-8.
func charset(r *bufio.Reader) string {
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
				return charset(r)
			} else if err == io.EOF {
				return latin
			}
			return utf
		}
		w = w[size:]
	}
	return param
}

// toUTF8 converts s to UTF-8. It treats invalid UTF-8 as ISO 8859-1.
func toUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}
