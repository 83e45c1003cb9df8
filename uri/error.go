package uri

import "strconv"

// An Error tells where a string stops being what it should be, and why. It never
// holds text of the input, which may contain a password.
type Error struct {
	Offset int    // byte offset in the input of the first byte that does not fit
	Reason string // what is wrong with it, in a few words
}

func (e *Error) Error() string {
	return "invalid URI at byte " + strconv.Itoa(e.Offset) + ": " + e.Reason
}

// errorAt says why s[i] cannot stand in the component named where.
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
