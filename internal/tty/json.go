package tty

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON returns text, which is valid JSON, as it may stand on a terminal: the
// same value, in which what [Escape] escapes is escaped as JSON has it. Text
// without any of these is returned itself.
func JSON(text []byte) []byte {
	var out []byte
	seen := 0 // text[seen:i] is clean and not yet in out
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		if r >= 0x7f && r != utf8.RuneError && hidden(r, size) { // the controls below are JSON's own spaces
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
