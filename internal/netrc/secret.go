package netrc

import (
	"fmt"
	"io"
	"log/slog"
)

// A Secret is a string that no print, log or record shows, not even as a part
// of a value that hides its fields. The zero Secret is none, which is not the
// same as an empty one.
type Secret struct{ text *string } // a pointer: fmt shows unexported strings

// NewSecret makes s a Secret.
func NewSecret(s string) Secret { return Secret{&s} }

// Reveal returns the string, empty for none.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// String returns three stars, or nothing for no secret.
func (s Secret) String() string {
	if s.text == nil {
		return ""
	}
	return "***"
}

// GoString returns what String returns.
func (s Secret) GoString() string { return s.String() }

// Format prints what String returns, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText returns what String returns.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue returns what String returns.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
