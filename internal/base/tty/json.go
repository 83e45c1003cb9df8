package tty

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON escapes valid JSON text for display on a terminal. It replaces the
// characters that [Escape] escapes with JSON escapes, so that the result has
// the same JSON value. If no character needs escaping, JSON returns text
// itself.
func JSON(text []byte) []byte {
	var out []byte
	seen := 0 // text[seen:i] needs no escape and is not in out yet
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		// Valid JSON contains C0 control characters only as white space, which
		// needs no escape.
		if r >= 0x7f && r != utf8.RuneError && isHidden(r, size) {
			out = append(out, text[seen:i]...)
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
			seen = i + size
		}
		i += size
	}
	if seen == 0 {
		return text
	}
	return append(out, text[seen:]...)
}
