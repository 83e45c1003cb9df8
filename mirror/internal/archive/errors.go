package archive

import (
	"errors"
	"slices"

	"github.com/anyurl/fetch/fetch"
)

// Classify wraps err in its fetch.Fault, which is fetch.Local for an unknown error,
// unless err already wraps it. If err is nil, Classify returns nil.
func Classify(err error) error {
	fault := fetch.FaultOf(err)
	if fault == fetch.Internal {
		fault = fetch.Local
	}
	if err == nil || errors.Is(err, fault) {
		return err
	}
	return fault.With(err)
}

// JoinDistinct returns an error that wraps err and more. If both wrap the same
// fetch.Fault, it returns err, so that a full disk is reported only once.
func JoinDistinct(err, more error) error {
	switch {
	case err == nil:
		return more
	case more == nil, fetch.FaultOf(err) == fetch.FaultOf(Classify(more)):
		return err
	}
	return errors.Join(err, more)
}

// invalidatesPart reports whether err prevents resuming a partial body.
// Examples are an object that is missing or has changed, and a server that does
// not send the remaining bytes.
func invalidatesPart(err error) bool {
	return err != nil && slices.Contains([]fetch.Fault{fetch.NotFound, fetch.Mismatch, fetch.Protocol}, fetch.FaultOf(err))
}

// restartError converts an error that prevents resuming to fetch.Truncated, so
// that the object is retrieved again from the beginning. It returns all other
// errors unchanged.
func restartError(err error) error {
	if !invalidatesPart(err) {
		return err
	}
	return fetch.Truncated.Errorf("the partial body cannot be resumed: %w", err)
}
