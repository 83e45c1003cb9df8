package iri

import (
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/uri"
)

// Parse parses an IRI typed by a user, which must have a scheme. Like
// [uri.ParseZone], it accepts zone identifiers. Parse returns a URI unchanged,
// unless its host contains percent-encoded non-ASCII letters. The error is an
// [*uri.Error].
func Parse(text string) (uri.URI, error) {
	u, err := parseEscaped(text, uri.ParseZone)
	if err == nil && u.Scheme() == "" {
		return uri.URI{}, &uri.Error{Offset: 0, Reason: "no scheme"}
	}
	return u, err
}

// ParseReference parses an IRI or a relative reference from a document. It is
// like [uri.ParseReference] but accepts non-ASCII letters. The error is an
// [*uri.Error].
func ParseReference(text string) (uri.URI, error) { return parseEscaped(text, uri.ParseReference) }

// Guess is like [uri.Guess] but accepts non-ASCII letters.
func Guess(text, scheme string) (u uri.URI, guessed bool, err error) {
	if u, err := uri.ParseZone(text); err == nil && isCompleteURI(u) {
		return u, false, nil
	}
	return guess(text, scheme)
}

// isCompleteURI reports whether u is a URI that needs no guess. Such a URI has
// "//", a host without percent-encodings, and a scheme that is not the label of
// a wrapper. For these URIs Guess avoids the slower function guess.
func isCompleteURI(u uri.URI) bool {
	if !u.HasAuthority() || strings.IndexByte(u.Host(), '%') >= 0 {
		return false
	}
	scheme := u.Scheme()
	return scheme != "" && scheme != "url" && scheme != "uri"
}

func guess(text, scheme string) (u uri.URI, guessed bool, err error) {
	if strings.HasPrefix(uri.Unwrap(text), "/") {
		return uri.Guess(text, scheme) // a file name may contain any byte
	}
	u, err = parseEscaped(text, func(s string) (u uri.URI, err error) {
		u, guessed, err = uri.Guess(s, scheme)
		return u, err
	})
	return u, guessed && err == nil, err
}

// parseEscaped escapes the non-ASCII bytes of text and parses the result with
// the given function. It converts the host to ASCII.
func parseEscaped(text string, parse func(string) (uri.URI, error)) (uri.URI, error) {
	if err := checkChars(text); err != nil {
		return uri.URI{}, err
	}
	escaped := uri.EscapeNonASCII(text)
	u, err := parse(escaped)
	if e, ok := err.(*uri.Error); ok {
		return uri.URI{}, &uri.Error{Offset: unescapedOffset(text, e.Offset), Reason: e.Reason}
	}
	v, err := ToASCII(u)
	e, failed := err.(*uri.Error)
	switch {
	case failed && escaped == text:
		return u, nil // a valid URI, although the host is not an IDNA name
	case failed:
		added := len(u.Unredacted()) - len(escaped) // length of the scheme added by Guess
		return uri.URI{}, &uri.Error{Offset: unescapedOffset(text, e.Offset-added), Reason: e.Reason}
	}
	return v, err
}

// unescapedOffset converts an offset in the escaped form of text to an offset
// in text.
func unescapedOffset(text string, offset int) int {
	i := 0
	for ; i < len(text) && offset > 0; i++ {
		offset--
		if text[i] >= utf8.RuneSelf {
			offset -= 2
		}
	}
	return i
}

// checkChars returns an error if text is not UTF-8 or contains a character that
// is not allowed in an IRI (RFC 3987 sections 2.2 and 4.1).
func checkChars(text string) error {
	private := false // in the query, where private-use characters are allowed
	fragment := false
	for i, r := range text {
		switch {
		case r < utf8.RuneSelf:
			fragment = fragment || r == '#'
			private = !fragment && (private || r == '?')
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			return &uri.Error{Offset: i, Reason: "not UTF-8"}
		case isBidiControl(r):
			return &uri.Error{Offset: i, Reason: "character that changes the direction of text"}
		case !ucschar(r) && !(private && iprivate(r)):
			return &uri.Error{Offset: i, Reason: "character not allowed in an IRI"}
		}
	}
	return nil
}

// isBidiControl reports whether r is a formatting character of the Unicode
// Bidirectional Algorithm.
func isBidiControl(r rune) bool {
	return r == 0x61c || r == 0x200e || r == 0x200f || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069
}

// ucschar reports whether r matches the ucschar production of RFC 3987 section
// 2.2.
func ucschar(r rune) bool {
	return 0xa0 <= r && r <= 0xd7ff || 0xf900 <= r && r <= 0xfdcf || 0xfdf0 <= r && r <= 0xffef ||
		0x10000 <= r && r <= 0xefffd && r&0xffff <= 0xfffd && !(0xe0000 <= r && r <= 0xe0fff)
}

// iprivate reports whether r matches the iprivate production of RFC 3987
// section 2.2.
func iprivate(r rune) bool {
	return 0xe000 <= r && r <= 0xf8ff || 0xf0000 <= r && r <= 0x10fffd && r&0xffff <= 0xfffd
}
