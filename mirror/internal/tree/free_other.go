//go:build !linux

package tree

import (
	"errors"

	"github.com/anyurl/fetch/fetch"
)

// Free returns the number of free bytes on the file system of the archive. If
// the number is unknown, the error wraps errors.ErrUnsupported.
func (s *Store) Free() (int64, error) { return 0, fetch.Local.With(errors.ErrUnsupported) }
