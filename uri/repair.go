package uri

import "strings"

// Repair percent-encodes the characters of a typed or pasted URL that RFC 3986 does
// not allow there. Examples are a space, a bracket and a "%" without two hexadecimal
// digits. Browsers accept such a URL too. Use Repair
// only for text that a user entered, and show the result to the user. Links in
// documents and lines of files should be parsed strictly.
//
// Repair changes only the path, the query and the fragment. It does not change
// the user name, the host and the port, because a changed authority could name
// another server. Text without a scheme starts with an authority, as in [Guess].
// Repair returns the following text unchanged:
//
//   - a valid URL
//   - a URL with a scheme and without an authority, such as "mailto:a b"
//   - text that contains a control character
//
// Repair keeps non-ASCII characters and surrounding white space. Use
// [EscapeNonASCII] and [Unwrap] for them. The result may be invalid, for example
// because of its host. It has at most three times as many bytes as text, and
// another call of Repair does not change it.
func Repair(text string) string {
	i, ok := authorityEnd(text)
	if !ok || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return text
	}
	front, fragment, hasFragment := strings.Cut(text[i:], "#")
	if isRepaired(front) && isRepaired(fragment) {
		return text
	}
	b := append(make([]byte, 0, len(text)+len(text)/2), text[:i]...)
	b = appendRepaired(b, front)
	if hasFragment {
		b = appendRepaired(append(b, '#'), fragment)
	}
	return string(b)
}

// authorityEnd returns the end of the authority that text starts with, after an
// optional scheme. It returns false if text has a scheme and no authority, or if
// it is unclear whether text has a scheme.
func authorityEnd(text string) (int, bool) {
	n := spanRaw(text, 0, schemeChars)
	switch rest := text[n:]; {
	case strings.HasPrefix(rest, "://"):
		n += len("://")
	case n == 0 && strings.HasPrefix(rest, "//"):
		n = len("//")
	default:
		if full, err := hasScheme(text); full || err != nil {
			return 0, false
		}
		n = 0
	}
	return n + len(authorityOf(text[n:])), true
}

// isRepaired reports whether appendRepaired would not change s.
func isRepaired(s string) bool {
	for i := 0; i < len(s); i++ {
		if !keeps(s, i) {
			return false
		}
	}
	return true
}

// appendRepaired percent-encodes the characters of s that neither a query nor a
// fragment may contain, and appends the result to dst. It returns the extended
// slice.
func appendRepaired(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if keeps(s, i) {
			dst = append(dst, s[i])
		} else {
			dst = AppendEscape(dst, s[i:i+1], 0)
		}
	}
	return dst
}

// keeps reports whether Repair leaves the byte s[i] unchanged.
func keeps(s string, i int) bool {
	return QueryChars.Has(s[i]) || s[i] >= 0x80 || isEncoded(s, i)
}
