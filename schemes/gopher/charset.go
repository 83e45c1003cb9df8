package gopher

import (
	"bufio"
	"io"
	"unicode/utf8"
)

// charset is what the beginning of a text shows of its character set, as a
// parameter of the media type: Gopher does not say it. It is "" where only
// ASCII has come yet. RFC 1436 suggests ISO 8859-1; today's texts are UTF-8.
func charset(r *bufio.Reader) string {
	const utf, latin = "; charset=utf-8", "; charset=iso-8859-1"
	w, _ := r.Peek(r.Buffered())
	seen := ""
	for len(w) > 0 {
		c, size := utf8.DecodeRune(w)
		switch {
		case c != utf8.RuneError || size > 1:
			if c >= utf8.RuneSelf {
				seen = utf
			}
		case utf8.FullRune(w):
			return latin
		default: // cut where the text ends, or where no more has come yet
			if _, err := r.Peek(r.Buffered() + 1); err == nil {
				return charset(r)
			} else if err == io.EOF {
				return latin
			}
			return utf
		}
		w = w[size:]
	}
	return seen
}

// decode makes UTF-8 of a line: what is not is taken for ISO 8859-1.
func decode(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}
