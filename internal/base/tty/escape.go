// Package tty prevents untrusted text from sending control sequences to a
// terminal.
//
// Text from a server, such as file names, replies, header fields and documents,
// must pass through this package before it is displayed. Use [Escape] for text
// within a line and [NewWriter] for a document. [IsText] reports whether a
// document can be displayed. Control characters are escaped, not removed, so
// that the user can see them.
package tty

import (
	"fmt"
	"unicode/utf8"
)

// Escape returns s escaped for use within one line of a terminal, a log or an
// error message. It escapes these characters:
//
//   - C0 control characters, including TAB, CR and LF, DEL, and bytes that are
//     not UTF-8, in the form \x1b
//   - C1 control characters, line and paragraph separators, and the
//     default-ignorable characters of Unicode, in the form \u{202e}. The latter
//     reorder or hide text. Examples are bidirectional controls and zero-width
//     characters.
//
// A backslash is not escaped, so the result cannot be decoded. The result is
// UTF-8, and escaping it again does not change it. If no character needs
// escaping, Escape returns s without allocating.
func Escape(s string) string {
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		if isHidden(r, size) {
			return string(appendEscaped(nil, []byte(s), ""))
		}
		i += size
	}
	return s
}

// appendEscaped appends text to dst and escapes all control characters except
// those in keep.
func appendEscaped(dst, text []byte, keep string) []byte {
	seen := 0 // text[seen:i] needs no escape and is not in dst yet
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		if isHidden(r, size) && !(r < 0x20 && containsByte(keep, byte(r))) {
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

func containsByte(set string, c byte) bool {
	for i := range len(set) {
		if set[i] == c {
			return true
		}
	}
	return false
}

// isHidden reports whether the rune r, decoded from size bytes, is invisible
// and affects the terminal or the text order.
func isHidden(r rune, size int) bool {
	switch {
	case r < 0x20, 0x7f <= r && r < 0xa0: // C0, DEL, C1 (RFC 20, ISO 6429)
		return true
	case r < 0xad:
		return false
	case r == utf8.RuneError:
		return size == 1 // an encoded U+FFFD has three bytes
	}
	return isIgnorable(r)
}

// isIgnorable reports whether r is a line or paragraph separator, an annotation
// mark, or a code point with the property Default_Ignorable_Code_Point.
func isIgnorable(r rune) bool {
	switch {
	case r < 0x2000:
		return r == 0xad || r == 0x34f || r == 0x61c || // soft hyphen, joiner, Arabic letter mark
			r == 0x115f || r == 0x1160 || // Hangul fillers
			r == 0x17b4 || r == 0x17b5 || // Khmer inherent vowels
			0x180b <= r && r <= 0x180f // Mongolian selectors
	case r < 0x3000:
		return 0x200b <= r && r <= 0x200f || // zero width, directional marks
			0x2028 <= r && r <= 0x202e || // separators, embeddings, overrides
			0x2060 <= r && r <= 0x206f // word joiner, operators, isolates
	case r < 0x10000:
		return r == 0x3164 || r == 0xffa0 || // Hangul fillers
			0xfe00 <= r && r <= 0xfe0f || // variation selectors
			r == 0xfeff || // byte order mark
			0xfff0 <= r && r <= 0xfffb // annotations
	}
	return 0x1bca0 <= r && r <= 0x1bca3 || // shorthand
		0x1d173 <= r && r <= 0x1d17a || // music
		0xe0000 <= r && r <= 0xe0fff // tags, variation selectors
}
