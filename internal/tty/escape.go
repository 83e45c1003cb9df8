// Package tty keeps the bytes of strangers from commanding a terminal.
//
// Whatever a server can choose (a file name, a reply, a header, a document)
// goes through this package before it is shown to a person: [Escape] for text
// that stands in one line, [NewWriter] for a document, and [IsText] to tell
// whether a document should be shown at all. Controls are shown, not removed,
// so that the reader sees that they were there.
package tty

import (
	"fmt"
	"unicode/utf8"
)

// Escape returns s as it may stand within one line of a terminal, a log or an
// error. Shown as \x1b are the C0 controls with TAB, CR and LF, DEL, and bytes
// that are not UTF-8; shown as \u{202e} are the C1 controls, line and paragraph
// separators, and what reorders or hides text: the bidirectional controls and
// zero-width characters. A backslash stays as it is: the result is for eyes,
// not for decoding.
//
// The result is UTF-8 and Escape leaves it unchanged. A string without any of
// these is returned itself, without allocation.
func Escape(s string) string {
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		if hidden(r, size) {
			return string(appendEscaped(nil, []byte(s), ""))
		}
		i += size
	}
	return s
}

// appendEscaped appends text to dst, escaped but for the controls in keep.
func appendEscaped(dst, text []byte, keep string) []byte {
	seen := 0 // text[seen:i] is clean and not yet in dst
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		if hidden(r, size) && !(r < 0x20 && isIn(keep, byte(r))) {
			dst = append(dst, text[seen:i]...)
			if size == 1 {
				dst = fmt.Appendf(dst, `\x%02x`, text[i])
			} else {
				dst = fmt.Appendf(dst, `\u{%x}`, r)
			}
			seen = i + size
		}
		i += size
	}
	return append(dst, text[seen:]...)
}

func isIn(set string, c byte) bool {
	for i := range len(set) {
		if set[i] == c {
			return true
		}
	}
	return false
}

// hidden reports whether the rune r, decoded from size bytes, acts on the
// terminal or on the order of the text instead of being seen.
func hidden(r rune, size int) bool {
	switch {
	case r < 0x20, 0x7f <= r && r < 0xa0: // C0, DEL, C1 (RFC 20, ISO 6429)
		return true
	case r < 0x61c:
		return false
	case r == utf8.RuneError:
		return size == 1 // a real U+FFFD is three bytes
	}
	return r == 0x61c || // Arabic letter mark
		0x200b <= r && r <= 0x200f || // zero width, directional marks
		0x2028 <= r && r <= 0x202e || // separators, embeddings, overrides
		0x2066 <= r && r <= 0x2069 // isolates
}
