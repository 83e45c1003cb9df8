//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package tree

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// create creates a file for writing. It returns an error if the file exists.
// Unlike os.OpenFile, it does not register the file with the network poller,
// which does not support regular files.
func (f *folder) create(name string) (file *os.File, err error) {
	fd := -1
	err = withDescriptor(f.dir, func(dir int) error {
		for {
			fd, err = unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o666)
			if err != unix.EINTR {
				return err
			}
		}
	})
	path := f.path + "/" + name
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// rename moves a file to another directory and replaces an existing file there.
// It follows no links, because both names are plain file names in directories
// that are already open.
func (f *folder) rename(name string, to *folder, newName string) error {
	err := withDescriptor(f.dir, func(from int) error {
		return withDescriptor(to.dir, func(to int) error { return unix.Renameat(from, name, to, newName) })
	})
	if err != nil {
		return &os.LinkError{Op: "rename", Old: f.path + "/" + name, New: to.path + "/" + newName, Err: err}
	}
	f.dirty, to.dirty = true, true
	return nil
}

func (f *folder) chtimes(name string, t time.Time) error {
	ts, err := unix.TimeToTimespec(t)
	if err != nil {
		return nil // ignore a time that the system cannot represent
	}
	err = withDescriptor(f.dir, func(fd int) error {
		return unix.UtimesNanoAt(fd, name, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
	})
	if err != nil {
		return &os.PathError{Op: "chtimes", Path: f.path + "/" + name, Err: err}
	}
	return nil
}

// withDescriptor calls do with the file descriptor of f. The descriptor remains
// open during the call.
func withDescriptor(f *os.File, do func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	failed := conn.Control(func(fd uintptr) { err = do(int(fd)) })
	if failed != nil {
		return failed
	}
	return err
}

func syncDir(dir *os.File) error { return dir.Sync() }
