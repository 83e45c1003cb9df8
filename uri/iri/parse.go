package iri

import (
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/uri"
)

// Parse reads a typed IRI, which must have a scheme, as [uri.ParseZone] reads a
// URI. A URI is an IRI and stays as it is, but for a host that holds letters outside
// ASCII percent-encoded. The error is an [*uri.Error].
func Parse(text string) (uri.URI, error) {
	u, err := read(text, uri.ParseZone)
	if err == nil && u.Scheme() == "" {
		return uri.URI{}, &uri.Error{Offset: 0, Reason: "no scheme"}
	}
	return u, err
}

// ParseReference reads an IRI or a relative reference from a document, as
// [uri.ParseReference] reads one in ASCII. The error is an [*uri.Error].
func ParseReference(text string) (uri.URI, error) { return read(text, uri.ParseReference) }

// Guess is [uri.Guess] for text that may hold letters outside ASCII.
func Guess(text, scheme string) (u uri.URI, guessed bool, err error) {
	if u, err := uri.ParseZone(text); err == nil && isPlain(u) {
		return u, false, nil
	}
	return guess(text, scheme)
}

// isPlain reports whether u is a URI that guess leaves as it is, which takes it
// longer: one with a scheme that is no label of a wrapper, "//", and a host without
// percent-encodings.
func isPlain(u uri.URI) bool {
	if !u.HasAuthority() || strings.IndexByte(u.Host(), '%') >= 0 {
		return false
	}
	scheme := u.Scheme()
	return scheme != "" && scheme != "url" && scheme != "uri"
}

func guess(text, scheme string) (u uri.URI, guessed bool, err error) {
	if strings.HasPrefix(uri.Unwrap(text), "/") {
		return uri.Guess(text, scheme) // a file, whose name may have any bytes
	}
	u, err = read(text, func(s string) (u uri.URI, err error) {
		u, guessed, err = uri.Guess(s, scheme)
		return u, err
	})
	return u, guessed && err == nil, err
}

// read reads text by the given parser of URIs.
func read(text string, parse func(string) (uri.URI, error)) (uri.URI, error) {
	if err := check(text); err != nil {
		return uri.URI{}, err
	}
	escaped := uri.EscapeNonASCII(text)
	u, err := parse(escaped)
	if e, ok := err.(*uri.Error); ok {
		return uri.URI{}, &uri.Error{Offset: unescaped(text, e.Offset), Reason: e.Reason}
	}
	v, err := ToASCII(u)
	e, failed := err.(*uri.Error)
	switch {
	case failed && escaped == text:
		return u, nil // a URI all the same
	case failed:
		added := len(u.Unredacted()) - len(escaped) // by a guess
		return uri.URI{}, &uri.Error{Offset: unescaped(text, e.Offset-added), Reason: e.Reason}
	}
	return v, err
}

// unescaped returns where in text the byte stands that is at offset in its escaped
// form.
func unescaped(text string, offset int) int {
	i := 0
	for ; i < len(text) && offset > 0; i++ {
		offset--
		if text[i] >= utf8.RuneSelf {
			offset -= 2
		}
	}
	return i
}

// check returns an error if text is not UTF-8 or holds what no IRI does: RFC 3987
// sections 2.2 and 4.1.
func check(text string) error {
	private := false // in the query, where private characters may stand
	fragment := false
	for i, r := range text {
		switch {
		case r < utf8.RuneSelf:
			fragment = fragment || r == '#'
			private = !fragment && (private || r == '?')
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			return &uri.Error{Offset: i, Reason: "not UTF-8"}
		case turns(r):
			return &uri.Error{Offset: i, Reason: "character that changes the direction of text"}
		case !ucschar(r) && !(private && iprivate(r)):
			return &uri.Error{Offset: i, Reason: "character not allowed in an IRI"}
		}
	}
	return nil
}

// turns reports whether r is a formatting character of the Unicode Bidirectional
// Algorithm.
func turns(r rune) bool {
	return r == 0x61c || r == 0x200e || r == 0x200f || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069
}

// ucschar matches the production of RFC 3987 section 2.2.
func ucschar(r rune) bool {
	return 0xa0 <= r && r <= 0xd7ff || 0xf900 <= r && r <= 0xfdcf || 0xfdf0 <= r && r <= 0xffef ||
		0x10000 <= r && r <= 0xefffd && r&0xffff <= 0xfffd && !(0xe0000 <= r && r <= 0xe0fff)
}

// iprivate matches the production of RFC 3987 section 2.2.
func iprivate(r rune) bool {
	return 0xe000 <= r && r <= 0xf8ff || 0xf0000 <= r && r <= 0x10fffd && r&0xffff <= 0xfffd
}
