//go:build !linux

package tree

import (
	"errors"

	"github.com/anyurl/fetch/fetch"
)

// Free returns how many bytes are left to us on the file system of the
// archive; errors.ErrUnsupported where nobody can tell.
func (s *Store) Free() (int64, error) { return 0, fetch.Local.With(errors.ErrUnsupported) }
