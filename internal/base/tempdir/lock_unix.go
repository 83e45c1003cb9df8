//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package tempdir

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockDir opens and locks a directory. The kernel releases the lock when the
// process ends. If the file system has no locks, the error is
// [errors.ErrUnsupported].
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
	if err == nil {
		return f, nil
	}
	if err != unix.EWOULDBLOCK { // for example a network file system
		err = errors.ErrUnsupported
	}
	f.Close()
	return nil, err
}
