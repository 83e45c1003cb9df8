package nntp

import (
	"errors"
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
	"github.com/anyurl/fetch/internal/tty"
)

// faultOf says what a code of refusal amounts to (RFC 3977 3.2.1).
func faultOf(code int) fetch.Fault {
	switch code {
	case 401:
		return fetch.Unsupported // the server has it in another mode alone
	case 411, 412, 420, 421, 422, 423, 430:
		return fetch.NotFound
	case 480, 481, 482:
		return fetch.Auth
	case 483, 580:
		return fetch.TLS
	case 500, 501, 504:
		return fetch.Protocol
	case 503:
		return fetch.TryLater // "feature not supported" too: servers mix them up
	}
	switch code / 100 {
	case 4:
		return fetch.TryLater
	case 5:
		return fetch.Denied
	}
	return fetch.Protocol
}

// refused is the error for a reply that is not the one that verb hopes for.
func refused(verb string, r line.Reply) error {
	fault := faultOf(r.Code)
	if r.Code == 502 && strings.Contains(strings.ToLower(r.Lines[0]), "too many") {
		fault = fetch.TryLater // connections, as some servers put it
	}
	err := fault.Errorf("%s: %d %s", verb, r.Code, tty.Escape(r.Lines[0]))
	return &fetch.Error{Code: r.Code, Err: fetch.NeedLogin(fault, err)}
}

// codeOf is the server's number in err, or zero.
func codeOf(err error) int {
	var e *fetch.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// replyFault classes what went wrong while a reply was read.
func replyFault(err error) error {
	switch {
	case errors.Is(err, line.ErrTooLong):
		return fetch.Protocol.Errorf("reply longer than %d bytes", line.MaxReplyLine)
	case errors.Is(err, line.ErrNotReply):
		return fetch.Protocol.With(err)
	case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF):
		return fetch.Connect.Errorf("server closed the connection")
	case err == io.ErrShortWrite:
		return fetch.Connect.With(err)
	}
	return err
}

// blockFault classes what went wrong within a block: whatever ended the
// connection cut it.
func blockFault(err error) error {
	switch {
	case err == io.EOF:
		return io.EOF
	case errors.Is(err, line.ErrTooLong):
		return fetch.Protocol.With(err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fetch.Truncated.Errorf("no dot at the end: %w", err)
	case fetch.FaultOf(err) == fetch.Connect:
		return fetch.Truncated.With(err)
	}
	return err
}
