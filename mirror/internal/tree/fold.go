package tree

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold returns the same text for all paths that a file system could treat as
// equal, such as paths that differ only in case.
func Fold(path string) string { return fold(path) }

// fold returns the form of path for the canonical caseless match of Unicode
// (D145). This match treats more paths as equal than NTFS, and as many as APFS.
func fold(path string) string {
	for i := range len(path) {
		if path[i] >= 0x80 {
			return norm.NFD.String(foldCase(norm.NFD.String(path)))
		}
	}
	return strings.ToLower(path)
}

// foldCase returns the case folding of text, which is in the form NFD. Package
// cases of golang.org/x/text does the same, but adds 30 kB to each program.
func foldCase(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		long := foldLong(r)
		switch {
		case r == utf8.RuneError: // it may represent an invalid byte
			b.WriteString(text[:n])
		case long != "":
			b.WriteString(long)
		case r == 'ı':
			b.WriteRune(r)
		case 0x13a0 <= r && r <= 0x13fd, 0xab70 <= r && r <= 0xabbf: // Cherokee is folded to capital letters
			b.WriteRune(unicode.ToUpper(r))
		default:
			b.WriteRune(unicode.ToLower(unicode.ToUpper(r)))
		}
		text = text[n:]
	}
	return b.String()
}

// foldLong returns the case folding of r if it has several characters, or "". In
// the form NFD, no other characters have one.
func foldLong(r rune) string {
	switch r {
	case 'ß', 'ẞ':
		return "ss"
	case 'ŉ':
		return "\u02bcn"
	case 'և':
		return "եւ"
	case 'ẚ':
		return "a\u02be"
	case 'ﬀ':
		return "ff"
	case 'ﬁ':
		return "fi"
	case 'ﬂ':
		return "fl"
	case 'ﬃ':
		return "ffi"
	case 'ﬄ':
		return "ffl"
	case 'ﬅ', 'ﬆ':
		return "st"
	case 'ﬓ':
		return "մն"
	case 'ﬔ':
		return "մե"
	case 'ﬕ':
		return "մի"
	case 'ﬖ':
		return "վն"
	case 'ﬗ':
		return "մխ"
	}
	return ""
}
