package archive

import (
	"errors"
	"slices"

	"github.com/anyurl/fetch/fetch"
)

// Classify returns err, with the class fetch.Local if err has no class. It
// returns nil if err is nil.
func Classify(err error) error {
	if err == nil || fetch.FaultOf(err) != fetch.Internal {
		return err
	}
	return fetch.Local.With(err)
}

// JoinDistinct returns an error that wraps err and more. If both have the same
// class, it returns err, so that a full disk is reported only once.
func JoinDistinct(err, more error) error {
	switch {
	case err == nil:
		return more
	case more == nil, fetch.FaultOf(err) == fetch.FaultOf(Classify(more)):
		return err
	}
	return errors.Join(err, more)
}

// invalidatesPart reports whether err means that a partial body cannot be
// resumed. The object is missing, it has changed, or the server does not send
// the remaining bytes.
func invalidatesPart(err error) bool {
	return err != nil && slices.Contains([]fetch.Fault{fetch.NotFound, fetch.Mismatch, fetch.Protocol}, fetch.FaultOf(err))
}

// restartError converts an error that prevents resuming to fetch.Truncated, so
// that the object is retrieved again from its beginning. Other errors are
// unchanged.
func restartError(err error) error {
	if !invalidatesPart(err) {
		return err
	}
	return fetch.Truncated.Errorf("the partial body cannot be resumed: %w", err)
}
