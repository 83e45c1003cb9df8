package save

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/regularfile"
)

// FS is all that this package does to a file system. The methods are those of
// package os where the names are the same.
type FS interface {
	OpenFile(name string, flag int, perm fs.FileMode) (Handle, error)
	Lstat(name string) (Info, error)
	Readlink(name string) (string, error)
	Rename(from, to string) error
	RenameNew(from, to string) error // Rename, but fs.ErrExist if to exists
	Remove(name string) error
	Chtimes(name string, mtime time.Time) error
	SyncDir(name string) error // makes the names in a folder durable
}

// A Handle is an open file of an FS.
type Handle interface {
	io.ReadWriteSeeker
	io.Closer
	Stat() (Info, error)
	Chmod(fs.FileMode) error
	Truncate(size int64) error
	Sync() error

	// Lock locks the file for this Handle until it is closed, or its process
	// ends. It never waits: fetch.InUse says that another Handle has the lock,
	// errors.ErrUnsupported that there are no locks here.
	Lock() error
}

// An Info is what a file system tells of a file.
type Info struct {
	Mode fs.FileMode // what is no file, folder or link is fs.ModeIrregular
	Size int64
	identity
}

// System returns the file system of the machine, for an FS around it.
func System() FS { return system{} }

func (system) Readlink(name string) (string, error) { return os.Readlink(name) }

func (system) Chtimes(name string, mtime time.Time) error {
	return os.Chtimes(name, time.Time{}, mtime)
}

// linkNew is RenameNew by a hard link, for systems without a call of its own.
// Between its steps the file is whole under both names.
func linkNew(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	return os.Remove(from)
}

// look is Lstat where nothing may be there.
func lstatIfExists(fsys FS, name string) (info Info, exists bool, err error) {
	info, err = fsys.Lstat(name)
	return info, err == nil, ignoreNotExist(err)
}

// create creates a file of our own, in the place of what a killed process may
// have left under its name.
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

// OpenLock opens or creates the file name and locks it until the Handle is
// closed. It is [fetch.InUse] if another Handle has the lock. A link, a
// pipe or a device of that name is an error: the folder may come from a stranger.
func OpenLock(name string) (Handle, error) {
	info, err := os.Lstat(name)
	if err == nil {
		err = regularfile.CheckSingleLink(name, info)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return nil, classify(err)
	}
	h, err := System().OpenFile(name, os.O_RDWR|os.O_CREATE|noFollow|nonBlock, 0o666)
	if err != nil {
		return nil, classify(err)
	}
	if err := h.Lock(); err != nil {
		h.Close()
		return nil, classify(err)
	}
	return h, nil
}

// local classes an error of the file system.
func classify(err error) error {
	var fault fetch.Fault
	switch {
	case err == nil || errors.As(err, &fault):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fetch.DiskFull.With(err)
	}
	return fetch.Local.With(err)
}
