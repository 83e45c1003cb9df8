//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package chromium

import (
	"errors"
	"os"
)

// errLocked is never returned on this system.
var errLocked = errors.New("the directory is locked")

// lockDir returns an error, because this system has no flock. Directories of
// killed processes stay.
func lockDir(string) (*os.File, error) { return nil, errors.ErrUnsupported }
