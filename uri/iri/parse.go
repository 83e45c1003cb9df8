package iri

import (
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/uri"
)

// Parse parses an IRI entered by a user. The IRI must have a scheme and may
// contain an IPv6 zone identifier, as in [uri.ParseZone]. If text is already a
// URI, Parse does not change it, unless the host contains percent-encoded
// non-ASCII letters. The error is an [*uri.Error].
func Parse(text string) (uri.URI, error) {
	u, err := parseEscaped(text, uri.ParseZone)
	if err == nil && u.Scheme() == "" {
		return uri.URI{}, &uri.Error{Offset: 0, Reason: "no scheme"}
	}
	return u, err
}

// ParseReference parses an IRI or a relative reference from a document. Unlike
// [uri.ParseReference], it accepts non-ASCII letters. The error is an
// [*uri.Error].
func ParseReference(text string) (uri.URI, error) { return parseEscaped(text, uri.ParseReference) }

// Guess parses an IRI that a user entered, possibly without a scheme. Unlike
// [uri.Guess], it accepts non-ASCII letters. The error is an [*uri.Error].
func Guess(text, scheme string) (u uri.URI, guessed bool, err error) {
	if u, err := uri.ParseZone(text); err == nil && isCompleteURI(u) {
		return u, false, nil
	}
	return guess(text, scheme)
}

// isCompleteURI reports whether u has a scheme, "//" and a host without
// percent-encodings. Guess returns such a URI unchanged. The label "URL:" is
// not accepted as a scheme.
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

// parseEscaped percent-encodes the non-ASCII bytes of text and calls parse. It
// then converts the host of the parsed URI to ASCII.
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

// unescapedOffset converts an offset in the percent-encoded form of text to an
// offset in text.
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
	private := false // inside the query, which may contain private-use characters
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

// ucschar reports whether r is a non-ASCII character that an IRI may contain.
// It implements the ucschar production of RFC 3987 section 2.2.
func ucschar(r rune) bool {
	return 0xa0 <= r && r <= 0xd7ff || 0xf900 <= r && r <= 0xfdcf || 0xfdf0 <= r && r <= 0xffef ||
		0x10000 <= r && r <= 0xefffd && r&0xffff <= 0xfffd && !(0xe0000 <= r && r <= 0xe0fff)
}

// iprivate reports whether r is a private-use character that the query of an
// IRI may contain. It implements the iprivate production of RFC 3987 section
// 2.2.
func iprivate(r rune) bool {
	return 0xe000 <= r && r <= 0xf8ff || 0xf0000 <= r && r <= 0x10fffd && r&0xffff <= 0xfffd
}
