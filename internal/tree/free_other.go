//go:build !linux

package tree

import (
	"errors"

	"github.com/anyurl/fetch/fetch"
)

// Free returns the free bytes of the file system of the archive. If they are
// unknown, the error is errors.ErrUnsupported.
func (s *Store) Free() (int64, error) { return 0, fetch.Local.With(errors.ErrUnsupported) }
