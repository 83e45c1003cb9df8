package localfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/anyurl/fetch/fetch"
)

// fault adds a [fetch.Fault] to an error of the operating system, unless err
// already has a fault. It removes the path from the error, because the URL
// contains the path.
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
		// os.Root returns an error without an error number for a path outside
		// the root directory.
		return refusal("path leads outside the root directory", err.Error())
	}
	return fetch.Local.With(err)
}

// refusal returns the error for a URL or file that violates the given rule of
// this package. The parameter subject describes the URL or file.
func refusal(rule, subject string) error {
	return fetch.BadAddress.With(&fetch.Refusal{Rule: rule, Subject: subject})
}
