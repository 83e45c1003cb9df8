package mail

import (
	"errors"
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/emersion/go-imap/v2"
)

// codeFaults maps IMAP response codes (RFC 5530, RFC 3501 7.1) to error
// classes.
var codeFaults = map[string]fetch.Fault{
	"AUTHENTICATIONFAILED": fetch.Auth,
	"AUTHORIZATIONFAILED":  fetch.Auth,
	"EXPIRED":              fetch.Auth,
	"CONTACTADMIN":         fetch.Auth,
	"PRIVACYREQUIRED":      fetch.TLS,
	"NONEXISTENT":          fetch.NotFound,
	"TRYCREATE":            fetch.NotFound,
	"EXPUNGEISSUED":        fetch.NotFound,
	"NOPERM":               fetch.Denied,
	"UNAVAILABLE":          fetch.TryLater,
	"SERVERBUG":            fetch.TryLater,
	"INUSE":                fetch.TryLater,
	"LIMIT":                fetch.TryLater,
	"BADCHARSET":           fetch.Unsupported,
	"REFERRAL":             fetch.Denied, // fetch does not follow referrals to other servers (RFC 2221, RFC 2193)
}

// statusError returns an error for a server answer of NO, BAD or BYE. The
// response code determines the class of the error. For an unknown code, the
// class is fetch.Protocol after BAD and fallback otherwise.
func statusError(verb string, fallback fetch.Fault, a answer) error {
	fault, known := codeFaults[a.code]
	switch {
	case known:
		fallback = fault
	case a.status == "BAD":
		fallback = fetch.Protocol
	}
	text := a.text
	if a.code != "" {
		text = "[" + a.code + "] " + text
	}
	return fallback.Errorf("%s: %s %s", verb, tty.Escape(a.status), tty.Escape(tty.Clip(text, 300)))
}

// lineFault adds an error class to an error that occurred while a response line
// was read.
func lineFault(err error) error {
	switch {
	case errors.Is(err, line.ErrTooLong):
		return fetch.Protocol.Errorf("line longer than %d bytes", maxReply)
	case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF):
		return fetch.Connect.Errorf("server closed the connection")
	}
	return err
}

// classify adds an error class to an error that imapclient returned for the
// command verb. If the server rejected the command with an unknown response
// code, the class is fallback. After any other error the session is marked as
// broken.
func (s *session) classify(verb string, fallback fetch.Fault, err error) error {
	var refusal *imap.Error
	switch ended := s.clientConn.readErr(); {
	case err == nil:
		return nil
	case errors.As(err, &refusal):
		code := strings.ToUpper(string(refusal.Code))
		return statusError(verb, fallback, answer{status: string(refusal.Type), code: code, text: refusal.Text})
	case ended != nil:
		s.Break()
		return lineFault(ended)
	}
	s.Break()
	text, _, _ := strings.Cut(err.Error(), "\n")
	return fetch.Protocol.Errorf("%s: %s", verb, tty.Escape(tty.Clip(text, 300)))
}
