package sessions

import (
	"errors"
	"io"

	"github.com/anyurl/fetch/fetch"
)

// MessageFault adds a [fetch.Fault] to an error that occurred while a message in
// a binary format was read. The parameter malformed is the error of the codec for
// a message that does not follow the format.
func MessageFault(err, malformed error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, malformed):
		return fetch.Protocol.With(err)
	case err == io.EOF:
		return fetch.Connect.Errorf("server closed the connection without a response")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fetch.Truncated.Errorf("server closed the connection during a response: %w", err)
	}
	return err
}

// TruncatedFault returns a [fetch.Truncated] error if the connection was lost
// in the middle of a body or of a listing. It returns other errors unchanged.
func TruncatedFault(err error) error {
	if err != io.EOF && fetch.FaultOf(err) == fetch.Connect {
		return fetch.Truncated.Errorf("connection lost: %w", err)
	}
	return err
}
