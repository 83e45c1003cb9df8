package uri

import "strconv"

// An Error is a syntax error in a URI. It holds the offset of the invalid byte
// and a message. The message does not quote the input, because the input may
// contain a password.
type Error struct {
	Offset int    // offset of the first invalid byte in the input
	Reason string // short description of the error
}

// Error describes the reason and the position.
func (e *Error) Error() string {
	return "invalid URI at byte " + strconv.Itoa(e.Offset) + ": " + e.Reason
}

// errorAt returns an error that reports an invalid byte s[i]. The parameter
// where names the component, such as "host".
func errorAt(s string, i int, where string) *Error {
	return &Error{i, reason(s, i) + " in " + where}
}

func reason(s string, i int) string {
	if i >= len(s) {
		return "unexpected end"
	}
	switch c := s[i]; {
	case c == '%':
		return "malformed percent-encoding"
	case c == ' ':
		return "space"
	case c < ' ' || c == 0x7f:
		return "control character"
	case c >= 0x80:
		return "byte outside ASCII"
	}
	return "character not allowed"
}
