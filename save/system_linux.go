package save

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const hasRenameNew = true // RenameNew is a single system call

// RenameNew uses the system call renameat2. Some file systems, such as NFS, do
// not support renameat2 and need a hard link instead. FAT has no hard links,
// but supports renameat2.
func (s system) RenameNew(from, to string) error {
	dir, base := s.atArgs(from)
	newDir, newBase := s.atArgs(to)
	err := s.change(func() error { return unix.Renameat2(dir, base, newDir, newBase, unix.RENAME_NOREPLACE) })
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, errors.ErrUnsupported):
		return linkNew(from, to)
	case err != nil:
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
