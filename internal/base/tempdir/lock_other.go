//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package tempdir

import (
	"errors"
	"os"
)

// lockDir returns an error, because this system has no flock. Directories of
// killed processes stay.
func lockDir(string) (*os.File, error) { return nil, errors.ErrUnsupported }
