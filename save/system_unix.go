//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package save

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anyurl/fetch/fetch"
)

const (
	noFollow = unix.O_NOFOLLOW
	nonBlock = unix.O_NONBLOCK

	canRenameOpenFile = true // an open file can be renamed
)

// system is the file system of the operating system. It can keep a folder open,
// so that the kernel does not resolve the path of the folder in each call.
type system struct {
	dir  *os.File // open folder, or nil
	name string   // path of dir, in the form that split returns

	// names is locked while a name in dir is added or changed, or is nil. The
	// kernel locks the folder for the same time, but its lock blocks a thread,
	// and this lock blocks only a goroutine.
	names *sync.Mutex
}

func openSystem(folder string) (system, error) {
	dir, err := system{}.open(folder, os.O_RDONLY|unix.O_DIRECTORY, 0)
	return system{dir, folder, new(sync.Mutex)}, err
}

// change calls a system call that adds or changes a name, and repeats it while
// it is interrupted by a signal.
func (s system) change(call func() error) error {
	if s.names != nil {
		s.names.Lock()
		defer s.names.Unlock()
	}
	return retryEINTR(call)
}

func (s system) close() error { return s.dir.Close() }

// atArgs converts a path to the arguments of system calls such as openat: the
// descriptor of a folder and a name relative to it.
func (s system) atArgs(name string) (dir int, base string) {
	if s.dir != nil {
		if base, ok := strings.CutPrefix(name, s.name); ok && base != "" && strings.IndexByte(base, '/') < 0 {
			return int(s.dir.Fd()), base
		}
	}
	return unix.AT_FDCWD, name
}

// open is like os.OpenFile, but is faster. Package os makes additional system
// calls to check whether a file supports polling, which regular files do not.
func (s system) open(name string, flag int, perm fs.FileMode) (*os.File, error) {
	dir, base := s.atArgs(name)
	var fd int
	call := func() (err error) {
		fd, err = unix.Openat(dir, base, flag|unix.O_CLOEXEC, uint32(perm.Perm()))
		return err
	}
	var err error
	if flag&os.O_CREATE != 0 {
		err = s.change(call)
	} else {
		err = retryEINTR(call)
	}
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
	dir, base := s.atArgs(name)
	var st unix.Stat_t
	if err := retryEINTR(func() error { return unix.Fstatat(dir, base, &st, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return Info{}, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return infoOf(&st), nil
}

func (s system) Rename(from, to string) error {
	dir, base := s.atArgs(from)
	newDir, newBase := s.atArgs(to)
	if err := s.change(func() error { return unix.Renameat(dir, base, newDir, newBase) }); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

func (s system) Remove(name string) error {
	dir, base := s.atArgs(name)
	switch err := retryEINTR(func() error { return unix.Unlinkat(dir, base, 0) }); err {
	case nil:
		return nil
	case unix.EISDIR, unix.EPERM: // name is a folder
		return os.Remove(name)
	default:
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
}

// SyncDir syncs a folder. It returns nil if the file system cannot sync
// folders.
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

// retryEINTR repeats a system call while it is interrupted by a signal.
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

// Lock locks the file with flock. The kernel releases the lock when the process
// ends.
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

// Close releases the lock and closes the file. Without the explicit release, a
// child process that was just forked could hold the lock until its exec.
func (h *handle) Close() error {
	if h.locked {
		unix.Flock(int(h.Fd()), unix.LOCK_UN) // the error is ignored, because Close releases the lock too
	}
	return h.File.Close()
}

// identity identifies a file regardless of its name. It also contains the owner
// and the number of hard links.
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
	return Info{mode, st.Size, time.Unix(st.Mtim.Unix()), identity{uint64(st.Dev), uint64(st.Ino), uint64(st.Nlink), int(st.Uid)}}
}

// same reports whether two Infos describe the same file.
func (i Info) same(j Info) bool { return i.device == j.device && i.number == j.number }

// isOwnPart reports whether a part file is safe to use. It must belong to the
// current user, only this user may write to it, and it must have one hard link.
func isOwnPart(i Info) bool {
	return i.Mode.IsRegular() && i.Mode.Perm()&0o022 == 0 && i.links == 1 && i.owner == os.Geteuid()
}

// isTrustedLink reports whether a symbolic link may be followed. In a sticky,
// world-writable folder, the link must belong to the current user or to the
// owner of the folder. The Linux setting protected_symlinks enforces the same
// rule, but not for readlink.
func isTrustedLink(link, folder Info) bool {
	if folder.Mode&fs.ModeSticky == 0 || folder.Mode.Perm()&0o002 == 0 {
		return true
	}
	return link.owner == os.Geteuid() || link.owner == folder.owner
}

// parseDescriptor returns the number of a file descriptor from a path such as
// /dev/fd/3 or /dev/stdout.
func parseDescriptor(path string) (int, bool) {
	for _, folder := range []string{"/dev/fd/", "/proc/self/fd/"} {
		if digits, ok := strings.CutPrefix(path, folder); ok {
			fd, err := strconv.ParseUint(digits, 10, 31)
			return int(fd), err == nil
		}
	}
	return 0, false
}

// openDescriptor returns a duplicate of a file descriptor. Opening the
// descriptor by its path would overwrite a redirected file from its beginning.
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
