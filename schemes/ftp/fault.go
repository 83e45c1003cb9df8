package ftp

import (
	"errors"
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// refused returns the error for a negative reply to a command (RFC 959 4.2).
func refused(verb string, r line.Reply) error {
	fault := faultOf(r)
	return &fetch.Error{Code: r.Code, Err: sessions.NeedLogin(fault, fault.Errorf("%s: %s", verb, sentence(r)))}
}

// faultOf returns the [fetch.Fault] for a negative reply.
func faultOf(r line.Reply) fetch.Fault {
	switch r.Code {
	case 425, 426:
		return fetch.Connect
	case 430, 530, 532, 332:
		if crowded(r) {
			return fetch.TryLater
		}
		return fetch.Auth
	case 431, 521, 522, 533, 534, 535, 536, 537: // RFC 2228 5, RFC 4217 12
		return fetch.TLS
	case 500, 501, 502, 503, 504:
		return fetch.Protocol
	case 550, 553:
		return fetch.NotFound
	}
	switch r.Code / 100 {
	case 4:
		return fetch.TryLater
	case 5:
		return fetch.Denied
	}
	return fetch.Protocol
}

// crowded reports whether a 530 reply means that too many users are logged in.
// Servers based on wu-ftpd have no other code for this condition.
func crowded(r line.Reply) bool {
	text := strings.ToLower(strings.Join(r.Lines, " "))
	return strings.Contains(text, "too many") || strings.Contains(text, "maximum") ||
		strings.Contains(text, "limit") || strings.Contains(text, "try again")
}

// sentence returns the text of a reply in one line, with control characters
// escaped.
func sentence(r line.Reply) string {
	const enough = 300
	text := strings.Join(strings.Fields(strings.Join(r.Lines[:min(len(r.Lines), 5)], " ")), " ")
	if len(text) > enough {
		text = text[:enough] + "…"
	}
	return tty.Escape(text)
}

// controlFault adds the matching [fetch.Fault] to an error that occurred while
// a reply was read.
func controlFault(err error) error {
	switch {
	case errors.Is(err, line.ErrTooLong), errors.Is(err, line.ErrTooManyLines), errors.Is(err, line.ErrNotReply):
		return fetch.Protocol.Errorf("reply: %w", err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fetch.Connect.Errorf("the server closed the control connection")
	}
	return err
}

// isNo reports whether a reply is a permanent error (5xx). After such a reply,
// the driver may try another command for the same purpose.
func isNo(r line.Reply) bool { return r.Code/100 == 5 }

// isUnknown reports whether a reply code means that the server does not support
// the command.
func isUnknown(code int) bool {
	switch code {
	case 202, 500, 501, 502, 504:
		return true
	}
	return false
}
