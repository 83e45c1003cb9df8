//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package tree

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// rename moves a file to another folder, in the place of a file there. It
// follows no link: both names are single components in open folders.
func (f *folder) rename(name string, to *folder, newName string) error {
	err := within(f.dir, func(from int) error {
		return within(to.dir, func(to int) error { return unix.Renameat(from, name, to, newName) })
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
		return nil // a time that the system cannot say is the server's mistake
	}
	err = within(f.dir, func(fd int) error {
		return unix.UtimesNanoAt(fd, name, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
	})
	if err != nil {
		return &os.PathError{Op: "chtimes", Path: f.path + "/" + name, Err: err}
	}
	return nil
}

// within calls do with the descriptor of f, which stays open meanwhile.
func within(f *os.File, do func(fd int) error) error {
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
