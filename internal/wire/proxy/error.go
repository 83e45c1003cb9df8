package proxy

import (
	"errors"
	"fmt"
	"io"

	"github.com/anyurl/fetch/internal/wire/httpauth"
)

// These errors are returned by Connect. They contain no text from the proxy.
var (
	ErrMalformed = errors.New("malformed reply from the proxy")
	ErrTooLong   = errors.New("reply from the proxy is too long")
	ErrClosed    = errors.New("proxy closed the connection")
	ErrTarget    = errors.New("target is invalid for a proxy")
	ErrOption    = errors.New("invalid proxy option")
)

// ErrNoTunnel is in the chain of an error if the request can be sent to the proxy
// in another form. Connect does not return it.
var ErrNoTunnel = errors.New("proxy refuses tunnels for http")

// A RefusedError reports that the proxy rejected the request or could not
// connect to the target.
type RefusedError struct {
	Proto string // "http", "socks4" or "socks5"
	Code  int    // HTTP status or SOCKS reply code
}

// Error returns a message with the reply code and, for SOCKS, its meaning.
func (e *RefusedError) Error() string {
	s := fmt.Sprintf("proxy rejected the request: %s %d", e.Proto, e.Code)
	if text := replyText(e.Proto, e.Code); text != "" {
		s += " (" + text + ")"
	}
	return s
}

// Unsupported reports whether the proxy does not support the request, so that a
// retry cannot succeed. The codes are defined in RFC 9110 15.5.6, 15.6.2 and
// 15.6.6, and in RFC 1928 6.
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

// An AuthRequiredError reports that the proxy requires credentials, or that it
// rejected the credentials in Options.
type AuthRequiredError struct {
	Challenges []httpauth.Challenge // challenges of an HTTP proxy
	Tried      bool                 // the proxy rejected Options.Login

	// If Redial is true, the proxy closes the connection after its reply. The
	// caller should retry once on a new connection and copy Challenges to the
	// Options.
	Redial bool
}

// Error returns a message that states whether the credentials are missing or were
// rejected.
func (e *AuthRequiredError) Error() string {
	if e.Tried {
		return "proxy rejected the credentials"
	}
	return "proxy requires a login"
}

// closedError returns ErrClosed in place of io.EOF and io.ErrUnexpectedEOF. It
// returns other errors unchanged.
func closedError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrClosed
	}
	return err
}
