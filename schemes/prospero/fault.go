package prospero

import (
	"errors"
	"os"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/prospero/ardp"
	"github.com/anyurl/fetch/internal/wire/prospero/message"
	"github.com/anyurl/fetch/schemes/internal/textform"
)

// failures maps the keywords of FAILURE lines to classes of errors.
var failures = map[string]fetch.Fault{
	"NOT-FOUND":               fetch.NotFound,
	notADirectory:             fetch.NotFound,
	"NOT-AUTHORIZED":          fetch.Denied,
	"AUTHENTICATION-REQUIRED": fetch.Auth,
	"AUTHENTICATION-DATA":     fetch.Auth,
	"SERVER-FAILED":           fetch.TryLater,
}

// notADirectory is the keyword that servers send for files and for missing
// objects.
const notADirectory = "NOT-A-DIRECTORY"

// refusal returns the error that a line of a reply reports. It returns nil for
// other lines.
func refusal(l message.Line) error {
	text := textform.Excerpt(strings.Join(l.Tokens, " "))
	switch l.Token(0) {
	case "FAILURE":
		if f, ok := failures[l.Token(1)]; ok {
			return f.Errorf("server replied: %s", text)
		}
		return fetch.Denied.Errorf("server replied: %s", text)
	case "ERROR":
		return fetch.Protocol.Errorf("server replied: %s", text)
	case "VERSION-NOT-SUPPORTED":
		return fetch.Unsupported.Errorf("server replied: %s", text)
	}
	return nil
}

// wireFault classifies an error of the connection or of a malformed reply.
func wireFault(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ardp.ErrMalformed), errors.Is(err, ardp.ErrVersion), errors.Is(err, message.ErrTooLong):
		return fetch.Protocol.With(err)
	case errors.Is(err, ardp.ErrRefused):
		return fetch.TryLater.With(err)
	case errors.Is(err, ardp.ErrTooLong):
		return fetch.BadURL.With(err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fetch.Timeout.With(err)
	}
	return err
}
