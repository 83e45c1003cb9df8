package netrc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/anyurl/fetch/fetch"
)

// Open reads the netrc at path. The empty path is that of the environment
// variable NETRC, or ~/.netrc; it is no error if that file does not exist. The
// warning, if not empty, is for the user: the file is of another user or
// readable by others. A symbolic link in the place of ~/.netrc is an error, and
// so is anything but a regular file.
func Open(path string) (f *File, warning string, err error) {
	named := path != ""
	if !named {
		path = os.Getenv("NETRC")
	}
	explicit := path != ""
	if !explicit {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, "", fetch.Local.With(err)
		}
		path = filepath.Join(home, ".netrc")
	}
	f, warning, err = open(path, explicit)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return &File{}, "", nil
	}
	return f, warning, fetch.Local.With(err)
}

// open reads the netrc at path. If the user did not name the file explicitly,
// it must not be a symbolic link, and its owner and mode are checked. open does
// not wait for the writer of a FIFO.
func open(path string, explicit bool) (f *File, warn string, err error) {
	flags := os.O_RDONLY | nonblock
	if !explicit {
		flags |= nofollow
	}
	file, err := os.OpenFile(path, flags, 0)
	if isLink(err) {
		return nil, "", fmt.Errorf("%s is a symbolic link: %w", path, errIrregular)
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
		return nil, "", fmt.Errorf("%s: %w", path, errIrregular)
	}
	if !explicit {
		warn = warning(path, info.Mode(), owner(info), os.Geteuid())
	}
	f, err = parse(file)
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
