package netrc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/anyurl/fetch/fetch"
)

// Open reads the netrc file at path. If path is empty, Open uses the path in
// the environment variable NETRC, or ~/.netrc if NETRC is not set. If path is
// empty, a missing file is not an error, and f has no entries.
//
// The result warning is not empty if ~/.netrc is owned by another user or
// accessible to other users. Open returns an error if the file is not a regular
// file, or if ~/.netrc is a symbolic link. Errors have the Fault [fetch.Local].
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

// open reads the netrc file at path. If explicit is false, the file must not be
// a symbolic link, and open checks its owner and mode. If the file is a FIFO,
// open does not wait for a writer.
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

// warning returns a message for the user if the owner or mode of a netrc file
// is unsafe, or "" otherwise. A negative owner or user means that its ID is
// unknown.
func warning(path string, mode fs.FileMode, owner, user int) string {
	switch {
	case owner >= 0 && user >= 0 && owner != user:
		return fmt.Sprintf("%s is owned by another user (%d)", path, owner)
	case owner >= 0 && mode&0o077 != 0:
		return fmt.Sprintf("%s is accessible to other users (mode %04o, should be 0600)", path, mode.Perm())
	}
	return ""
}
