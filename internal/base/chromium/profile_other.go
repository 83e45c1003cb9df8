//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package chromium

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// lockName is the name of the file that Chromium opens without sharing it while it
// uses a profile.
const lockName = "lockfile"

// checkUnused returns an error if a running browser has locked the profile.
func checkUnused(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0)
	switch {
	case err == nil:
		f.Close()
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("profile %s is in use by another browser, which must be closed: %w", dir, err)
	}
	return nil
}
