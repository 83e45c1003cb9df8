package proxy

import (
	"errors"
	"fmt"
	"io"

	"github.com/anyurl/fetch/internal/httpauth"
)

// The errors of a handshake that say nothing more than their class. No error
// of this package holds a byte that the proxy sent.
var (
	ErrMalformed = errors.New("malformed reply from the proxy")
	ErrTooLong   = errors.New("reply from the proxy is too long")
	ErrClosed    = errors.New("proxy closed the connection")
	ErrTarget    = errors.New("target is invalid for a proxy")
	ErrOption    = errors.New("invalid proxy option")
)

// Refused is the answer of a proxy that understood and will or can not.
type RefusedError struct {
	Proto string // "http", "socks4" or "socks5"
	Code  int    // the HTTP status, or the reply code of SOCKS
}

// Error says the code and, for SOCKS, what it means.
func (e *RefusedError) Error() string {
	s := fmt.Sprintf("proxy refused: %s %d", e.Proto, e.Code)
	if text := replyText(e.Proto, e.Code); text != "" {
		s += " (" + text + ")"
	}
	return s
}

// Unsupported reports whether the proxy can do what was asked for nobody, at
// no time: RFC 9110 15.5.6, 15.6.2 and 15.6.6, RFC 1928 6.
func (e *RefusedError) Unsupported() bool {
	switch e.Proto {
	case "http":
		return e.Code == 405 || e.Code == 501 || e.Code == 505
	case "socks5":
		return e.Code == 7 || e.Code == 8
	}
	return false
}

func replyText(proto string, code int) string {
	switch proto {
	case "socks4":
		return socks4Replies[code]
	case "socks5":
		return socks5Replies[code]
	}
	return ""
}

var socks4Replies = map[int]string{
	91: "rejected or failed",
	92: "no identd on this host",
	93: "identd names another user",
}

var socks5Replies = map[int]string{ // RFC 1928 6
	1: "general failure",
	2: "not allowed by its rules",
	3: "network unreachable",
	4: "host unreachable",
	5: "connection refused",
	6: "time to live expired",
	7: "command not supported",
	8: "address type not supported",
}

// AuthRequired is the answer of a proxy that wants a login, or another one.
type AuthRequiredError struct {
	Challenges []httpauth.Challenge // of an HTTP proxy
	Tried      bool                 // the Login was sent and refused
	// Redial: the Login was not refused yet, but the proxy ends this
	// connection. Connect over a new one, with Challenges in the Options,
	// may succeed; once is enough.
	Redial bool
}

// Error says whether the login is missing or wrong.
func (e *AuthRequiredError) Error() string {
	if e.Tried {
		return "proxy refused the login"
	}
	return "proxy requires a login"
}

// ended makes the end of the input an ErrClosed.
func closedError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrClosed
	}
	return err
}
