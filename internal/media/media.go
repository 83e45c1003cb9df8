// Package media guesses the media type of an object that came without one: a
// local file, an item of a protocol that names no types.
//
// Of is what to call. The table is our own, because that of package mime
// changes with the machine.
package media

import (
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

// SniffLen is how much of an object Sniff looks at.
const SniffLen = 512

// Of returns the media type that name promises or, where it promises none,
// the one that the first bytes of the object show; "" where neither does.
func TypeOf(name string, prefix []byte) string {
	if t := ByName(name); t != "" {
		return t
	}
	return Sniff(prefix)
}

// Base returns a media type without its parameters, in lower case. A text that is
// no media type is returned in lower case.
func TrimParameters(text string) string {
	base, _, _ := mime.ParseMediaType(text)
	if base == "" {
		return strings.ToLower(strings.TrimSpace(text))
	}
	return base
}

// ByName returns the media type for the extension of name, or "". It is
// without charset: a name does not tell.
func ByName(name string) string {
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 || name[dot-1] == '/' || dot+1 == len(name) || len(name)-dot > 16 {
		return ""
	}
	return byExtension[strings.ToLower(name[dot+1:])]
}

// Sniff returns the media type that the first bytes of an object show (WHATWG
// MIME Sniffing), or "" where they show none. What is shorter than SniffLen is
// taken for the whole object. Text has a charset only where it can be UTF-8.
func Sniff(prefix []byte) string {
	if len(prefix) == 0 {
		return ""
	}
	prefix = prefix[:min(len(prefix), SniffLen)]
	t := http.DetectContentType(prefix)
	bare, charset, _ := strings.Cut(t, ";")
	switch {
	case bare == "application/octet-stream":
		return ""
	case strings.HasSuffix(charset, "utf-8") && !validUTF8(prefix):
		return bare
	}
	return t
}

// validUTF8 reports whether text is UTF-8, but for a character at its end that
// SniffLen has cut.
func validUTF8(text []byte) bool {
	for i := SniffLen - utf8.UTFMax + 1; i < len(text); i++ {
		if !utf8.FullRune(text[i:]) {
			text = text[:i]
		}
	}
	return utf8.Valid(text)
}
