package uri

import "strings"

const upperHex = "0123456789ABCDEF"

// Escape percent-encodes every byte of s that is not in the set keep. It always
// encodes "%". Use the set [Segment] for one path segment and [Path] for a path
// with slashes. Use [RegNameChars] for a user name or a password.
func Escape(s string, keep Set) string {
	i := spanRaw(s, 0, keep)
	if i == len(s) {
		return s
	}
	n := 0
	for j := i; j < len(s); j++ {
		if !keep.Has(s[j]) {
			n++
		}
	}
	b := make([]byte, 0, len(s)+2*n)
	return string(AppendEscape(append(b, s[:i]...), s[i:], keep))
}

// AppendEscape percent-encodes every byte of s that is not in the set keep, and
// appends the result to dst. It returns the extended slice.
func AppendEscape(dst []byte, s string, keep Set) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; keep.Has(c) {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return dst
}

// EscapeNonASCII percent-encodes every non-ASCII byte of s. It converts an
// internationalized URI (IRI) in UTF-8 to a URI (RFC 3987 section 3.1). It also
// percent-encodes the host, which package iri can convert to its IDNA form.
func EscapeNonASCII(s string) string {
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			n++
		}
	}
	if n == 0 {
		return s
	}
	b := make([]byte, 0, len(s)+2*n)
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x80 {
			b = append(b, c)
		} else {
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return string(b)
}

// Unescape decodes the percent-encodings in s. The error for a malformed
// percent-encoding is an [*Error]. Unescape does not change "+". The result may
// contain any byte, including CR, LF and NUL, so check it before sending it to
// a server.
func Unescape(s string) (string, error) {
	i := strings.IndexByte(s, '%')
	if i < 0 {
		return s, nil
	}
	b := append(make([]byte, 0, len(s)), s[:i]...)
	for i < len(s) {
		switch {
		case s[i] != '%':
			b = append(b, s[i])
			i++
		case isEncoded(s, i):
			b = append(b, unhex(s[i+1])<<4|unhex(s[i+2]))
			i += 3
		default:
			return "", &Error{i, "malformed percent-encoding"}
		}
	}
	return string(b), nil
}

// unhex returns the value of the hexadecimal digit c.
func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}
