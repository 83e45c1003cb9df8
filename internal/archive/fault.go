package archive

import (
	"errors"
	"slices"

	"github.com/anyurl/fetch/fetch"
)

// Fault makes an error of this machine, which has no class yet, one of
// fetch.Local.
func Fault(err error) error {
	if err == nil || fetch.FaultOf(err) != fetch.Internal {
		return err
	}
	return fetch.Local.With(err)
}

// Join returns both errors. One of the same class as err says nothing more: a
// disk that is full is full for all.
func Join(err, more error) error {
	switch {
	case err == nil:
		return more
	case more == nil, fetch.FaultOf(err) == fetch.FaultOf(Fault(more)):
		return err
	}
	return errors.Join(err, more)
}

// useless reports whether nothing joins a part after err: there is no object any
// more, or another one, or the server cannot go on within it.
func useless(err error) bool {
	return err != nil && slices.Contains([]fetch.Fault{fetch.NotFound, fetch.Mismatch, fetch.Protocol}, fetch.FaultOf(err))
}

// restart has an object visited again, from its beginning, if nothing joins its
// part. Errors of this machine are as they were.
func restart(err error) error {
	if !useless(err) {
		return err
	}
	return fetch.Truncated.Errorf("nothing joins what there is of it: %w", err)
}
