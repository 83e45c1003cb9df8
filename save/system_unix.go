//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package save

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/anyurl/fetch/fetch"
)

const (
	noFollow = syscall.O_NOFOLLOW
	nonBlock = syscall.O_NONBLOCK

	renamesOpen = true // an open file can be renamed
)

// Lock uses flock, which the kernel ends with the process.
func (h handle) Lock() error {
	conn, err := h.SyscallConn()
	if err != nil {
		return err
	}
	var lockErr error
	err = conn.Control(func(fd uintptr) {
		for {
			if lockErr = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB); lockErr != syscall.EINTR {
				return
			}
		}
	})
	switch {
	case err != nil:
		return err
	case lockErr == syscall.EWOULDBLOCK:
		return fetch.InUse
	case lockErr != nil:
		return &fs.PathError{Op: "flock", Path: h.Name(), Err: lockErr}
	}
	return nil
}

// openFile is os.OpenFile without the calls by which package os asks whether a
// file can be waited for: ours cannot.
func openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	for {
		fd, err := syscall.Open(name, flag|syscall.O_CLOEXEC, uint32(perm.Perm()))
		switch err {
		case nil:
			return os.NewFile(uintptr(fd), name), nil
		case syscall.EINTR:
		default:
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
}

// remove is os.Remove for what is no folder.
func remove(name string) error {
	for {
		err := syscall.Unlink(name)
		switch err {
		case nil:
			return nil
		case syscall.EINTR:
		case syscall.EISDIR, syscall.EPERM:
			return os.Remove(name)
		default:
			return &fs.PathError{Op: "remove", Path: name, Err: err}
		}
	}
}

// Close ends the lock itself: a child that another goroutine has begun, and that
// has not come to its exec, would hold it on for a moment.
func (h handle) Close() error {
	if conn, err := h.SyscallConn(); err == nil {
		conn.Control(func(fd uintptr) { syscall.Flock(int(fd), syscall.LOCK_UN) }) // the close that follows ends it too
	}
	return h.File.Close()
}

// SyncDir is nothing where folders cannot be synced.
func (system) SyncDir(name string) error {
	d, err := openFile(name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// ours reports whether nobody else has a hand in a part file: not one of
// another user, not one that others may write to, not a further name of some
// other file.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().IsRegular() && info.Mode().Perm()&0o022 == 0 &&
		st.Nlink == 1 && int(st.Uid) == os.Geteuid()
}

// trusted reports whether a link may be followed: in a folder where everybody
// may create but not delete, only one's own links and those of the folder's
// owner (what Linux calls protected_symlinks; reading the link evades it).
func trusted(link, folder fs.FileInfo) bool {
	if folder.Mode()&fs.ModeSticky == 0 || folder.Mode().Perm()&0o002 == 0 {
		return true
	}
	l, ok := link.Sys().(*syscall.Stat_t)
	d, ok2 := folder.Sys().(*syscall.Stat_t)
	return ok && ok2 && (int(l.Uid) == os.Geteuid() || l.Uid == d.Uid)
}

// descriptor returns the number in the name of an open descriptor.
func descriptor(path string) (int, bool) {
	for _, folder := range []string{"/dev/fd/", "/proc/self/fd/"} {
		if digits, ok := strings.CutPrefix(path, folder); ok {
			fd, err := strconv.ParseUint(digits, 10, 31)
			return int(fd), err == nil
		}
	}
	return 0, false
}

// openDescriptor returns fd for its own sake: opened by name, a file that the
// shell has redirected it to would be written from its beginning.
func openDescriptor(fd int, path string) (Handle, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	own, err := syscall.Dup(fd)
	if err != nil {
		return nil, &fs.PathError{Op: "dup", Path: path, Err: err}
	}
	syscall.CloseOnExec(own)
	return handle{os.NewFile(uintptr(own), path)}, nil
}
