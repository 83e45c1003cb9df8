package sessions

import (
	"errors"
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
)

// ReplyFault adds a [fetch.Fault] to an error that occurred while a reply was
// read.
func ReplyFault(err error) error {
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

// BlockFault adds a [fetch.Fault] to an error that occurred while a multi-line
// response was read. The fault is Truncated if the connection was lost.
func BlockFault(err error) error {
	switch {
	case err == io.EOF:
		return io.EOF
	case errors.Is(err, line.ErrTooLong):
		return fetch.Protocol.With(err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fetch.Truncated.Errorf("response is truncated, its final dot line is missing: %w", err)
	case fetch.FaultOf(err) == fetch.Connect:
		return fetch.Truncated.With(err)
	}
	return err
}

// CodeOf returns the code of the reply that caused err, or 0 if err has another
// cause.
func CodeOf(err error) int {
	var e *fetch.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}
