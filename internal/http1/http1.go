// Package http1 parses HTTP/1 messages (RFC 9112): heads, framing, chunks and
// trailers. It does not read from connections. The caller passes received bytes
// to a parser, which returns how many of them belong to the message.
//
// [Rules] select the deviations from the standard that are accepted. The same
// parsers are used for connections, proxies and messages in archives.
package http1

import (
	"fmt"

	"golang.org/x/net/http/httpguts"
)

// Limits of a message. MaxHead and MaxFields apply to the head of a response
// and its interim responses together.
const (
	MaxHead    = 256 << 10 // bytes
	MaxFields  = 500
	MaxInterim = 5
	MaxTrailer = 64 << 10 // bytes

	maxStoredHead = 1 << 20 // bytes of a head in the mode Stored
	maxChunkLine  = 4 << 10

	// maxChunkOverhead limits the total bytes of chunk lines. For each chunk,
	// 16 bytes and twice the size of its data are not counted.
	maxChunkOverhead = 16 << 10
)

// A Mode selects how strictly a message is parsed. Every mode accepts folded
// fields and lines of a head that end in LF without CR.
type Mode uint8

const (
	// Strict rejects every other deviation.
	Strict Mode = iota
	// Regular accepts deviations with a single interpretation, as browsers do.
	Regular
	// Tolerant accepts all deviations that are known from old servers.
	Tolerant
	// Stored accepts every deviation. It is used for messages in an archive,
	// which end with their record.
	Stored
)

// Rules select the deviations that are accepted. The zero value is strict.
type Rules struct {
	Mode         Mode
	IgnoreLength bool // the body ends with the connection

	// Note, unless it is nil, is called with each deviation that was accepted.
	Note func(deviation string)
}

// An Error reports a message that is malformed or exceeds a limit.
type Error struct {
	Text     string // without text from the message
	TooLarge bool   // the message exceeds a limit
}

// Error returns e.Text.
func (e *Error) Error() string { return e.Text }

func malformed(text string) error { return &Error{Text: text} }

func tooLarge(format string, args ...any) error {
	return &Error{Text: fmt.Sprintf(format, args...), TooLarge: true}
}

// Deviate reports a deviation that has several interpretations. It returns an
// error unless the mode is [Tolerant] or [Stored].
func (r *Rules) Deviate(deviation string) error { return r.requireMode(Tolerant, deviation) }

// tolerate reports a deviation that has a single interpretation. It returns an
// error if the mode is [Strict].
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

// tokenBytes is true for each byte that a token may contain.
var tokenBytes = func() (t [256]bool) {
	for c := range t {
		t[c] = httpguts.IsTokenRune(rune(c))
	}
	return t
}()

// HasControl reports whether s has a control character other than a tab, which
// a field value must not have (RFC 9110 5.5).
func HasControl(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return true
		}
	}
	return false
}

// Trim returns s without leading and trailing spaces and tabs (RFC 9110 5.6.3).
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

// AppendField appends the line of a header field to b.
func AppendField(b []byte, name, value string) []byte {
	b = append(append(b, name...), ": "...)
	return append(append(b, value...), "\r\n"...)
}
