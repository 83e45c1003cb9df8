//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package chromium

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// errLocked means that another process has locked the directory.
var errLocked = errors.New("the directory is locked")

// lockDir opens and locks a directory. The kernel releases the lock when the
// process ends. The error is errLocked if another process has the lock.
func lockDir(path string) (*os.File, error) {
	f, err := os.OpenFile(path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err != unix.EINTR {
			break
		}
	}
	switch {
	case err == nil:
		return f, nil
	case err == unix.EWOULDBLOCK:
		err = errLocked
	default: // for example a network file system
		err = errors.ErrUnsupported
	}
	f.Close()
	return nil, err
}
