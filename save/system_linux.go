package save

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// RenameNew needs one call, unless the file system does not know it (NFS);
// those that have no hard links (FAT) do.
func (system) RenameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, errors.ErrUnsupported):
		return linkNew(from, to)
	case err != nil:
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
