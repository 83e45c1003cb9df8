// Package message is the text of Prospero: lines of tokens, parted by blanks
// and ended by LF alone (B. C. Neuman, "The Prospero Protocol", version 5,
// 1993).
//
// Quotes may begin and end within a token, a quote between quotes is doubled,
// and what stands between them may be anything, a line end too. AppendToken
// writes a token, a Reader reads them.
package message

import (
	"errors"
	"strings"
)

var (
	// ErrTooLong says that a token or a line exceeds its limit.
	ErrTooLong = errors.New("line too long")
	// ErrUnsafe says that a token to be sent holds CR, LF or NUL.
	ErrUnsafe = errors.New("CR, LF or NUL in a request")
)

// Limits of what a Reader holds in memory.
const (
	MaxLine   = 256 << 10 // bytes
	MaxTokens = 1000      // of a line
)

// AppendToken appends a token, in quotes where it would not be one otherwise.
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

// AppendLine appends one line of a request. It is ErrUnsafe where a token holds
// CR, LF or NUL; dst is then returned as it was.
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
	Raw    string // without its end
}

// Token returns the nth token, or "".
func (l Line) Token(n int) string {
	if n < len(l.Tokens) {
		return l.Tokens[n]
	}
	return ""
}
