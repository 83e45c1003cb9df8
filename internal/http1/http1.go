// Package http1 parses the messages of HTTP/1 (RFC 9112): heads, framing,
// chunks and trailers. It reads from no connection. The caller pushes the bytes
// that arrived, and each parser reports how many of them belong to the message.
//
// [Rules] decide which deviations from the standard are accepted, so that one
// parser serves connections, proxies and stored messages.
package http1

import (
	"fmt"

	"golang.org/x/net/http/httpguts"
)

// Limits of a message. The head includes interim responses.
const (
	MaxHead    = 256 << 10 // bytes
	MaxFields  = 500
	MaxInterim = 5
	MaxTrailer = 64 << 10 // bytes

	maxStoredHead = 1 << 20 // bytes of a head in an archive
	maxChunkLine  = 4 << 10

	// maxChunkWork limits the bytes of chunk lines, beyond 16 bytes per chunk
	// and twice the size of the data.
	maxChunkOverhead = 16 << 10
)

// A Mode says how strictly a message is parsed. Every mode accepts folded
// fields and heads whose lines end in LF alone.
type Mode uint8

const (
	// Strict rejects every other deviation.
	Strict Mode = iota
	// Regular accepts deviations with a single interpretation, as browsers do.
	Regular
	// Tolerant accepts what old servers send.
	Tolerant
	// Stored accepts everything: the message is in an archive, and the end of
	// the record limits it.
	Stored
)

// Rules say which deviations are accepted. The zero Rules are strict.
type Rules struct {
	Mode         Mode
	IgnoreLength bool // the body ends with the connection

	// Note, unless it is nil, is called with each deviation that was accepted.
	Note func(deviation string)
}

// An Error reports a message that is malformed or exceeds a limit. Its text has
// no byte of the message.
type Error struct {
	Text     string
	TooLarge bool
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

func malformed(text string) error { return &Error{Text: text} }

func tooLarge(format string, args ...any) error {
	return &Error{Text: fmt.Sprintf(format, args...), TooLarge: true}
}

// Deviate reports a deviation that has several interpretations. It returns an
// error unless the mode is [Tolerant] or [Stored].
func (r *Rules) Deviate(deviation string) error { return r.requireMode(Tolerant, deviation) }

// odd reports a deviation with a single interpretation.
func (r *Rules) tolerate(deviation string) error { return r.requireMode(Regular, deviation) }

func (r *Rules) requireMode(mode Mode, deviation string) error {
	if r.Mode < mode {
		return malformed(deviation)
	}
	if r.Note != nil {
		r.Note(deviation)
	}
	return nil
}

// ValidName reports whether s is a token (RFC 9110 5.6.2), as the name of a
// field must be.
func ValidName(s string) bool {
	for i := range len(s) {
		if !tokenBytes[s[i]] {
			return false
		}
	}
	return s != ""
}

// inToken has the bytes of a token.
var tokenBytes = func() (t [256]bool) {
	for c := range t {
		t[c] = httpguts.IsTokenRune(rune(c))
	}
	return t
}()

// HasControl reports whether s has a control character other than a tab. The
// value of a field has none (RFC 9110 5.5).
func HasControl(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return true
		}
	}
	return false
}

// Trim returns s without the blanks around it (RFC 9110 5.6.3).
func Trim(s string) string {
	for len(s) > 0 && isBlank(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isBlank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// AppendField appends the line of a field.
func AppendField(b []byte, name, value string) []byte {
	b = append(append(b, name...), ": "...)
	return append(append(b, value...), "\r\n"...)
}
