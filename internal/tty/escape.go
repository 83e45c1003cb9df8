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
// separators, and all default-ignorable characters of Unicode, which reorder or
// hide text: bidirectional controls, zero-width characters, byte order marks,
// fillers, variation selectors and tags. A backslash stays as it is: the result is for eyes,
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
	case r < 0xad:
		return false
	case r == utf8.RuneError:
		return size == 1 // a real U+FFFD is three bytes
	}
	return ignorable(r)
}

// ignorable reports whether r is a line or paragraph separator, an annotation
// mark or a code point with the property Default_Ignorable_Code_Point.
func ignorable(r rune) bool {
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
