package file

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/anyurl/fetch/fetch"
)

// fault classes an error of the system, if nobody has. Its path is left out:
// the URL says it.
func fault(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	var class fetch.Fault
	var number syscall.Errno
	switch {
	case errors.As(err, &class):
		return err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG):
		return fetch.NotFound.With(err)
	case errors.Is(err, fs.ErrPermission):
		return fetch.Denied.With(err)
	case errors.Is(err, syscall.ELOOP):
		return fetch.Loop.With(err)
	case errors.Is(err, fs.ErrClosed):
		return fetch.Canceled.With(err)
	case path != nil && !errors.As(err, &number) && !errors.Is(err, os.ErrDeadlineExceeded):
		// What is no error of the system itself comes from os.Root.
		return refused("path leads out of the root", err.Error())
	}
	return fetch.Local.With(err)
}

// refused is an error that says which rule keeps us from reading.
func refused(rule, subject string) error {
	return fetch.BadAddress.With(&fetch.Refusal{Rule: rule, Subject: subject})
}
