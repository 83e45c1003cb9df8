package save

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
)

// An FS is a file system in which files are saved. A method that is named like
// a function of package os behaves like this function.
type FS interface {
	OpenFile(name string, flag int, perm fs.FileMode) (Handle, error)
	Lstat(name string) (Info, error)
	Readlink(name string) (string, error)
	Rename(from, to string) error
	RenameNew(from, to string) error // fails with fs.ErrExist if to exists
	Remove(name string) error
	Chtimes(name string, mtime time.Time) error
	SyncDir(name string) error // makes the entries of a folder durable
}

// A Handle is an open file of an [FS].
type Handle interface {
	io.ReadWriteSeeker
	io.Closer
	Stat() (Info, error)
	Chmod(fs.FileMode) error
	Truncate(size int64) error
	Sync() error

	// Lock locks the file until the Handle is closed or the process ends. It
	// does not wait. It returns fetch.InUse if another Handle has the lock, and
	// errors.ErrUnsupported if the system has no file locks.
	Lock() error
}

// An Info contains the properties of a file, like os.FileInfo.
type Info struct {
	Mode fs.FileMode // fs.ModeIrregular for devices, pipes and sockets
	Size int64
	Time time.Time // when the file was last written, or zero if unknown
	identity
}

// System returns the file system of the operating system. Programs can wrap it
// in another FS.
func System() FS { return system{} }

func (system) Readlink(name string) (string, error) { return os.Readlink(name) }

func (system) Chtimes(name string, mtime time.Time) error {
	return os.Chtimes(name, time.Time{}, mtime)
}

// linkNew renames a file by creating a hard link and removing the old name. It
// fails if the new name exists. For a short time, the file has both names.
func linkNew(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	return os.Remove(from)
}

// lstatIfExists is like Lstat, but does not return an error for a missing file.
func lstatIfExists(fsys FS, name string) (info Info, exists bool, err error) {
	info, err = fsys.Lstat(name)
	return info, err == nil, ignoreNotExist(err)
}

// create creates a temporary file. It replaces an existing file, which may be a
// leftover of a killed process.
func create(fsys FS, name string, perm fs.FileMode) (Handle, error) {
	const flag = os.O_RDWR | os.O_CREATE | os.O_EXCL | noFollow
	h, err := fsys.OpenFile(name, flag, perm)
	if errors.Is(err, fs.ErrExist) {
		if err := fsys.Remove(name); err != nil {
			return nil, err
		}
		return fsys.OpenFile(name, flag, perm)
	}
	return h, err
}

// OpenLock opens or creates a file and locks it until the Handle is closed. It
// returns [fetch.InUse] if another Handle has the lock. The folder may come
// from an untrusted source, so OpenLock rejects links, pipes and devices.
func OpenLock(name string) (Handle, error) {
	info, err := os.Lstat(name)
	if err == nil {
		err = regularfile.CheckSingleLink(name, info)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return nil, fetch.LocalError(err)
	}
	h, err := System().OpenFile(name, os.O_RDWR|os.O_CREATE|noFollow|nonBlock, 0o666)
	if err != nil {
		return nil, fetch.LocalError(err)
	}
	if err := h.Lock(); err != nil {
		h.Close()
		return nil, fetch.LocalError(err)
	}
	return h, nil
}
