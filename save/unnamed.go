package save

import (
	"errors"
	"io"
	"io/fs"
	"syscall"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// maxUnnamed is the maximum number of bytes in a file without a name. A larger
// file gets a part file, whose lock protects the file from other processes.
const maxUnnamed = 256 << 10

// A folderFS is the file system of a [Folder]. It can create files without a
// name, which other processes cannot open. If the process is killed, the system
// removes them.
type folderFS interface {
	FS

	// createUnnamed creates a file without a name in the folder. The umask and
	// the ACL of the folder determine its permissions.
	createUnnamed() (unnamedHandle, error)

	close() error
}

// An unnamedHandle is an open file without a name.
type unnamedHandle interface {
	Handle

	setTime(time.Time) error

	// link gives the file a name in its folder. It fails with fs.ErrExist if
	// the name exists.
	link(name string) error
}

// createUnnamed creates a file without a name in place of a part file, and
// returns true. It returns false if the file needs a part file, or if the file
// system has no files without names.
//
// An existing part file belongs to another process or to a killed process, and
// openPart decides about it.
func (f *File) createUnnamed() bool {
	if f.exists || f.o.Resume || f.o.Offset > 0 || !f.o.Folder.contains(f.path) || f.o.Folder.noUnnamed.Load() {
		return false
	}
	if !f.o.Folder.lacked(f.part) {
		if _, err := f.fs.Lstat(f.part); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	h, err := f.o.Folder.fs.createUnnamed()
	if err != nil {
		f.o.Folder.noUnnamed.Store(true)
		return false
	}
	f.h, f.unnamed = h, h
	f.state = State{URL: maskUserinfo(f.o.URL), Size: -1}
	return true
}

// moveToPart copies the bytes of a file without a name to a part file, which
// replaces the file.
func (f *File) moveToPart() error {
	unnamed := f.unnamed
	if unnamed == nil {
		return nil
	}
	defer unnamed.Close()
	info, err := unnamed.Stat()
	if err != nil {
		return err
	}
	if _, err := unnamed.Seek(0, io.SeekStart); err != nil {
		return err
	}
	f.h, f.unnamed = nil, nil
	h, created, err := openPart(f.fs, f.part, f.path)
	if err != nil {
		return err
	}
	f.h, f.hasPart = h, true
	if f.mode = f.o.Mode.Perm(); f.mode == 0 {
		f.mode = info.Mode.Perm()
	}
	if !created {
		if err := errors.Join(ignoreNotExist(f.fs.Remove(f.part+".state")), h.Truncate(0)); err != nil {
			return err
		}
	}
	_, err = io.Copy(struct{ io.Writer }{h}, unnamed)
	return err
}

// publishUnnamed syncs a file without a name and links it to the final name. It
// returns false if the file needs a part file after all, because the name
// exists now or the file system does not support the link.
func (f *File) publishUnnamed() (published bool, err error) {
	if f.o.Mode != 0 {
		if err := f.h.Chmod(f.o.Mode.Perm()); err != nil {
			return false, err
		}
	}
	if !f.mtime.IsZero() && f.unnamed.setTime(f.mtime) != nil {
		return false, nil
	}
	if err := f.h.Sync(); err != nil {
		f.unsynced = true
		return false, err
	}
	for {
		err := f.unnamed.link(f.path)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EIO), errors.Is(err, syscall.EROFS):
			return false, err
		case !errors.Is(err, fs.ErrExist):
			f.o.Folder.noUnnamed.Store(true)
			return false, nil
		case f.o.Existing.replaces():
			f.exists = true
			return false, nil
		case f.o.Existing == Refuse || f.number == maxNumber:
			return false, fetch.Exists.Errorf("%s exists", f.path)
		}
		f.number++
		f.setPath(numbered(f.base, f.number))
	}
}
