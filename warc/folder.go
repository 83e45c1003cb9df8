package warc

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"syscall"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/regularfile"
)

// A Folder is all that a Writer does to a file system. The methods are those
// of os.Root where the names are the same.
type Folder interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Lstat(name string) (fs.FileInfo, error)
	Rename(from, to string) error
	Remove(name string) error
	Sync() error // makes the names in the folder durable
}

// A File is an open file of a Folder.
type File interface {
	io.ReadWriteSeeker
	io.Closer
	Truncate(size int64) error
	Sync() error
}

// Root is the Folder of an os.Root, which stays the caller's: it must be open
// as long as the Writer is.
func Root(dir *os.Root) Folder { return root{dir} }

type root struct{ *os.Root }

func (r root) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := regularfile.OpenFileIn(r.Root, name, flag, perm)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Sync is nothing where folders cannot be synced.
func (r root) Sync() error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := r.Open(".")
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

// local classes an error of the file system.
func local(err error) error {
	var fault fetch.Fault
	switch {
	case err == nil || errors.As(err, &fault):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fetch.DiskFull.With(err)
	}
	return fetch.Local.With(err)
}
