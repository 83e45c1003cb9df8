package netrc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Open reads the netrc at path. An explicit path is one that the user named
// for this run; of the usual one in the home directory more is asked: it may
// not be a symbolic link, and warn is not empty when it belongs to someone
// else or lets others read it. Neither may be anything but a regular file
// (ErrIrregular); Open does not wait for the writer of a FIFO.
//
// The error for a file that is not there is fs.ErrNotExist.
func Open(path string, explicit bool) (f *File, warn string, err error) {
	flags := os.O_RDONLY | nonblock
	if !explicit {
		flags |= nofollow
	}
	file, err := os.OpenFile(path, flags, 0)
	if isLink(err) {
		return nil, "", fmt.Errorf("%s is a symbolic link: %w", path, ErrIrregular)
	}
	if err != nil {
		return nil, "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, "", err
	}
	if !info.Mode().IsRegular() {
		return nil, "", fmt.Errorf("%s: %w", path, ErrIrregular)
	}
	if !explicit {
		warn = warning(path, info.Mode(), owner(info), os.Geteuid())
	}
	f, err = Parse(file)
	var pathErr *fs.PathError
	if err != nil && !errors.As(err, &pathErr) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return f, warn, err
}

// warning says what is wrong with how a file of secrets is kept, or nothing.
// An owner or user below zero is not known here.
func warning(path string, mode fs.FileMode, owner, user int) string {
	switch {
	case owner >= 0 && user >= 0 && owner != user:
		return fmt.Sprintf("%s belongs to another user (%d)", path, owner)
	case owner >= 0 && mode&0o077 != 0:
		return fmt.Sprintf("%s is open to others (mode %04o, should be 0600)", path, mode.Perm())
	}
	return ""
}
