package nntp

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/schemes/internal/textform"
)

// faultOf returns the fault for a negative status code (RFC 3977 3.2.1).
func faultOf(code int) fetch.Fault {
	switch code {
	case 401:
		return fetch.Unsupported // the server must first switch to another mode
	case 411, 412, 420, 421, 422, 423, 430:
		return fetch.NotFound
	case 480, 481, 482:
		return fetch.Auth
	case 483, 580:
		return fetch.TLS
	case 500, 501, 504:
		return fetch.Protocol
	case 503:
		return fetch.TryLater // some servers also use 503 for unsupported commands
	}
	switch code / 100 {
	case 4:
		return fetch.TryLater
	case 5:
		return fetch.Denied
	}
	return fetch.Protocol
}

// statusError returns the error for an unexpected status code in the reply to a
// command.
func statusError(verb string, r line.Reply) error {
	fault := faultOf(r.Code)
	if r.Code == 502 && strings.Contains(strings.ToLower(r.Lines[0]), "too many") {
		fault = fetch.TryLater // some servers reply "too many connections"
	}
	err := fault.Errorf("%s: %d %s", verb, r.Code, textform.Excerpt(r.Lines[0]))
	return &fetch.Error{Code: r.Code, Err: sessions.NeedLogin(fault, err)}
}
