package save

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"time"

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

// createUnnamed uses the flag O_TMPFILE. The kernel applies the umask and the
// ACL of the folder, as for a new file with a name.
func (s system) createUnnamed() (unnamedHandle, error) {
	var fd int
	err := retryEINTR(func() (err error) {
		fd, err = unix.Openat(int(s.dir.Fd()), ".", unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o666)
		return err
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: s.name, Err: err}
	}
	return &unnamed{handle{File: os.NewFile(uintptr(fd), s.name)}, s}, nil
}

// unnamed is an open file without a name.
type unnamed struct {
	handle
	s system
}

// procPath returns a path of the open file in /proc.
func (h *unnamed) procPath() string { return "/proc/self/fd/" + strconv.Itoa(int(h.Fd())) }

// link first uses AT_EMPTY_PATH, which some versions of Linux permit only to
// root. The other way needs the file system /proc.
func (h *unnamed) link(name string) error {
	dir, base := h.s.atArgs(name)
	err := h.s.change(func() error { return unix.Linkat(int(h.Fd()), "", dir, base, unix.AT_EMPTY_PATH) })
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EPERM) {
		err = h.s.change(func() error { return unix.Linkat(unix.AT_FDCWD, h.procPath(), dir, base, unix.AT_SYMLINK_FOLLOW) })
	}
	if err != nil {
		return &os.LinkError{Op: "link", Old: h.Name(), New: name, Err: err}
	}
	return nil
}

func (h *unnamed) setTime(t time.Time) error { return os.Chtimes(h.procPath(), time.Time{}, t) }
