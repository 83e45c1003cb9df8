// Package message reads and writes the text of Prospero: lines of tokens that
// are separated by blanks and end in LF (B. C. Neuman, "The Prospero Protocol",
// version 5, 1993).
//
// Quotes may begin and end inside a token. Two quotes inside quoted text
// represent one quote. Quoted text may contain any byte, including line ends.
// AppendToken writes a token, and a Reader reads tokens.
package message

import (
	"errors"
	"strings"
)

var (
	// ErrTooLong means that a token or a line exceeds its limit.
	ErrTooLong = errors.New("line too long")
	// ErrUnsafe means that a token of a request contains CR, LF or NUL.
	ErrUnsafe = errors.New("CR, LF or NUL in a request")
)

// Limits of a line, which bound the memory of a Reader.
const (
	MaxLine   = 256 << 10 // bytes
	MaxTokens = 1000      // tokens per line
)

// AppendToken appends a token to dst, in quotes if necessary, and returns the
// extended slice.
func AppendToken(dst []byte, token string) []byte {
	plain := token != ""
	for i := range len(token) {
		if c := token[i]; c <= ' ' || c == '\'' || c >= 0x7f {
			plain = false
		}
	}
	if plain {
		return append(dst, token...)
	}
	dst = append(dst, '\'')
	dst = append(dst, strings.ReplaceAll(token, "'", "''")...)
	return append(dst, '\'')
}

// AppendLine appends one line of a request to dst and returns the extended
// slice. If a token contains CR, LF or NUL, AppendLine returns ErrUnsafe.
func AppendLine(dst []byte, tokens ...string) ([]byte, error) {
	line := dst
	for i, t := range tokens {
		if strings.ContainsAny(t, "\r\n\x00") {
			return dst, ErrUnsafe
		}
		if i > 0 {
			line = append(line, ' ')
		}
		line = AppendToken(line, t)
	}
	return append(line, '\n'), nil
}

// A Line is one line of a reply.
type Line struct {
	Tokens []string
	Raw    string // the line without its line end
}

// Token returns the token with index n, or "" if the line has fewer tokens.
func (l Line) Token(n int) string {
	if n < len(l.Tokens) {
		return l.Tokens[n]
	}
	return ""
}
