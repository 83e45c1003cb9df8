//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package save

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/anyurl/fetch/fetch"
)

const (
	noFollow = unix.O_NOFOLLOW
	nonBlock = unix.O_NONBLOCK

	canRenameOpenFile = true // an open file can be renamed
)

// system is the file system of the machine, perhaps with a folder held open:
// the way to what is in it is not walked again by every call.
type system struct {
	dir  *os.File // nil: none
	name string   // of dir, as split has it
}

func openSystem(folder string) (system, error) {
	dir, err := system{}.open(folder, os.O_RDONLY|unix.O_DIRECTORY, 0)
	return system{dir, folder}, err
}

func (s system) close() error { return s.dir.Close() }

// at returns what name is relative to, and its name there.
func (s system) at(name string) (dir int, base string) {
	if s.dir != nil {
		if base, ok := strings.CutPrefix(name, s.name); ok && base != "" && strings.IndexByte(base, '/') < 0 {
			return int(s.dir.Fd()), base
		}
	}
	return unix.AT_FDCWD, name
}

// open is os.OpenFile without the calls by which package os asks whether a
// file can be waited for: ours cannot.
func (s system) open(name string, flag int, perm fs.FileMode) (*os.File, error) {
	dir, base := s.at(name)
	var fd int
	err := retryEINTR(func() (err error) {
		fd, err = unix.Openat(dir, base, flag|unix.O_CLOEXEC, uint32(perm.Perm()))
		return err
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (s system) OpenFile(name string, flag int, perm fs.FileMode) (Handle, error) {
	f, err := s.open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &handle{File: f}, nil
}

func (s system) Lstat(name string) (Info, error) {
	dir, base := s.at(name)
	var st unix.Stat_t
	if err := retryEINTR(func() error { return unix.Fstatat(dir, base, &st, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return Info{}, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return infoOf(&st), nil
}

func (s system) Rename(from, to string) error {
	dir, base := s.at(from)
	newDir, newBase := s.at(to)
	if err := retryEINTR(func() error { return unix.Renameat(dir, base, newDir, newBase) }); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

func (s system) Remove(name string) error {
	dir, base := s.at(name)
	switch err := retryEINTR(func() error { return unix.Unlinkat(dir, base, 0) }); err {
	case nil:
		return nil
	case unix.EISDIR, unix.EPERM: // a folder
		return os.Remove(name)
	default:
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
}

// SyncDir is nothing where folders cannot be synced.
func (s system) SyncDir(name string) error {
	if s.dir == nil || name != s.name {
		d, err := openSystem(name)
		if err != nil {
			return err
		}
		defer d.dir.Close()
		s = d
	}
	err := s.dir.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// again calls again what a signal has interrupted.
func retryEINTR(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

// handle is an open file.
type handle struct {
	*os.File
	locked bool
}

func (h *handle) Stat() (Info, error) {
	var st unix.Stat_t
	if err := retryEINTR(func() error { return unix.Fstat(int(h.Fd()), &st) }); err != nil {
		return Info{}, &fs.PathError{Op: "stat", Path: h.Name(), Err: err}
	}
	return infoOf(&st), nil
}

// Lock uses flock, which the kernel ends with the process.
func (h *handle) Lock() error {
	switch err := retryEINTR(func() error { return unix.Flock(int(h.Fd()), unix.LOCK_EX|unix.LOCK_NB) }); err {
	case nil:
		h.locked = true
		return nil
	case unix.EWOULDBLOCK:
		return fetch.InUse
	default:
		return &fs.PathError{Op: "flock", Path: h.Name(), Err: err}
	}
}

// Close ends the lock itself: a child that another goroutine has begun, and that
// has not come to its exec, would hold it on for a moment.
func (h *handle) Close() error {
	if h.locked {
		unix.Flock(int(h.Fd()), unix.LOCK_UN) // the close that follows ends it too
	}
	return h.File.Close()
}

// identity says which file it is, and whose.
type identity struct {
	device, number, links uint64
	owner                 int
}

func infoOf(st *unix.Stat_t) Info {
	mode := fs.FileMode(st.Mode & 0o777)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	default:
		mode |= fs.ModeIrregular
	}
	if st.Mode&unix.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return Info{mode, st.Size, identity{uint64(st.Dev), uint64(st.Ino), uint64(st.Nlink), int(st.Uid)}}
}

// same reports whether i and j are of one file.
func (i Info) same(j Info) bool { return i.device == j.device && i.number == j.number }

// ours reports whether nobody else has a hand in a part file: not one of
// another user, not one that others may write to, not a further name of some
// other file.
func isOwnPart(i Info) bool {
	return i.Mode.IsRegular() && i.Mode.Perm()&0o022 == 0 && i.links == 1 && i.owner == os.Geteuid()
}

// trusted reports whether a link may be followed: in a folder where everybody
// may create but not delete, only one's own links and those of the folder's
// owner (what Linux calls protected_symlinks; reading the link evades it).
func isTrustedLink(link, folder Info) bool {
	if folder.Mode&fs.ModeSticky == 0 || folder.Mode.Perm()&0o002 == 0 {
		return true
	}
	return link.owner == os.Geteuid() || link.owner == folder.owner
}

// descriptor returns the number in the name of an open descriptor.
func parseDescriptor(path string) (int, bool) {
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
	return &handle{File: os.NewFile(uintptr(own), path)}, nil
}
