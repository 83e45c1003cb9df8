// Package http1 parses HTTP/1 messages (RFC 9112). It parses message heads,
// chunked bodies and trailers, and determines where a body ends. The package
// does not read from connections. The caller passes received bytes to a parser,
// which returns the number of bytes that belong to the message.
//
// [Rules] select which deviations from the standard are accepted. The same
// parsers are used for servers, proxies and messages in archives.
package http1

import (
	"fmt"

	"golang.org/x/net/http/httpguts"
)

// These limits apply to one message. A response and its interim responses share
// MaxHead and MaxFields.
const (
	MaxHead    = 256 << 10 // bytes
	MaxFields  = 500
	MaxInterim = 5
	MaxTrailer = 64 << 10 // bytes

	maxStoredHead = 1 << 20 // bytes of a head in the mode Stored
	maxChunkLine  = 4 << 10

	// maxChunkOverhead is the maximum number of bytes in the chunk size lines
	// of a body. For each chunk, 16 bytes and twice the size of its data do not
	// count.
	maxChunkOverhead = 16 << 10
)

// A Mode selects how strictly messages are parsed. Every mode accepts folded
// header fields, and header lines that end in LF without CR.
type Mode uint8

const (
	// Strict rejects deviations from the standard, except for those that every
	// mode accepts.
	Strict Mode = iota
	// Regular accepts deviations that have only one possible interpretation, as
	// browsers do.
	Regular
	// Tolerant accepts all deviations that old servers are known to send.
	Tolerant
	// Stored accepts every deviation. It is intended for messages in archives.
	// The end of the archive record is the end of the message.
	Stored
)

// Rules specify which deviations from the standard are accepted. The zero value
// is strict.
type Rules struct {
	Mode         Mode
	IgnoreLength bool // ignore Content-Length and Transfer-Encoding: the body ends with the connection

	// If Note is not nil, the parser calls it for each deviation that it
	// accepts.
	Note func(deviation string)
}

// An Error reports that a message is malformed or exceeds a limit.
type Error struct {
	Text     string // description, which contains no text from the message
	TooLarge bool   // the message exceeds a limit
}

// Error returns e.Text.
func (e *Error) Error() string { return e.Text }

func malformed(text string) error { return &Error{Text: text} }

func tooLarge(format string, args ...any) error {
	return &Error{Text: fmt.Sprintf(format, args...), TooLarge: true}
}

// Deviate returns an error for a deviation from the standard that can be
// interpreted in several ways. In the modes [Tolerant] and [Stored], Deviate
// returns nil.
func (r *Rules) Deviate(deviation string) error { return r.requireMode(Tolerant, deviation) }

// tolerate reports a deviation that has only one possible interpretation. It
// returns an error if the mode is [Strict].
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

// ValidName reports whether s is a valid header field name (RFC 9110 5.6.2).
func ValidName(s string) bool {
	for i := range len(s) {
		if !tokenBytes[s[i]] {
			return false
		}
	}
	return s != ""
}

// tokenBytes[c] is true if a token, such as a field name, may contain the byte
// c.
var tokenBytes = func() (t [256]bool) {
	for c := range t {
		t[c] = httpguts.IsTokenRune(rune(c))
	}
	return t
}()

// HasControl reports whether s contains a control character other than a tab. A
// header field value must not contain such a character (RFC 9110 5.5).
func HasControl(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return true
		}
	}
	return false
}

// Trim removes leading and trailing spaces and tabs from s (RFC 9110 5.6.3).
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

// AppendField appends the line "name: value" and a line end to b.
func AppendField(b []byte, name, value string) []byte {
	b = append(append(b, name...), ": "...)
	return append(append(b, value...), "\r\n"...)
}
