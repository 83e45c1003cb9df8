package save

import (
	"errors"
	"io/fs"

	"github.com/anyurl/fetch/fetch"
)

// Commit publishes the file under its name and closes f. The published file is
// complete and durable. If Commit fails, the path is unchanged and f is closed
// as by Close. One exception is a failed sync of the folder after the last
// step: the path then names the new file.
//
// If the Size is known and the file has another length, Commit does not publish
// it. The error is fetch.Truncated or fetch.Mismatch.
func (f *File) Commit() error {
	if err := f.checkOpen(); err != nil {
		f.Close()
		return err
	}
	if f.device {
		return f.Close()
	}
	if err := f.commit(); err != nil {
		f.Close()
		return classify(err)
	}
	f.done = true
	if f.savedOffset > 0 {
		f.removeState() // if this fails, the state has no part and does no harm
	}
	dir, _ := split(f.path)
	return classify(errors.Join(f.fs.SyncDir(dir), f.close()))
}

// commit performs all steps up to the rename.
func (f *File) commit() error {
	if !f.started {
		if err := f.Begin(State{Size: -1}); err != nil {
			return err
		}
	}
	switch s := f.state; {
	case len(f.overlap) > 0:
		return fetch.Truncated.Errorf("%s: the body ended before the bytes that were saved earlier", f.path)
	case s.Size >= 0 && s.Offset < s.Size:
		return fetch.Truncated.Errorf("%s: received %d of %d bytes", f.path, s.Offset, s.Size)
	case s.Size >= 0 && s.Offset > s.Size:
		return fetch.Mismatch.Errorf("%s: received %d bytes instead of %d", f.path, s.Offset, s.Size)
	}
	if f.keepBytes > 0 && f.keepBytes == f.final.Size {
		return f.remove() // the existing file is already complete
	}
	if err := f.copyExisting(); err != nil {
		return err
	}
	if err := f.finalizePart(); err != nil {
		return err
	}
	return f.publish()
}

// finalizePart sets the mode and the time of the part and makes it durable.
func (f *File) finalizePart() error {
	if f.exists || !hasRenameNew {
		info, exists, err := lstatIfExists(f.fs, f.path)
		if err != nil {
			return err
		}
		if exists && info.Mode.IsRegular() && f.o.Mode == 0 {
			f.mode = info.Mode.Perm() // another process may have changed the file since Create
		}
	}
	if err := f.h.Chmod(f.mode); err != nil {
		return err
	}
	if !f.mtime.IsZero() {
		if err := f.fs.Chtimes(f.part, f.mtime); err != nil {
			return err
		}
	}
	if err := f.h.Sync(); err != nil {
		f.unsynced = true
		return err
	}
	if canRenameOpenFile {
		return nil
	}
	return f.close()
}

// publish renames the part to the name of the file.
func (f *File) publish() error {
	if f.o.Existing == Replace {
		return f.replace()
	}
	for {
		err := f.fs.RenameNew(f.part, f.path)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if f.o.Existing == Refuse || f.number == maxNumber {
			return fetch.Exists.Errorf("%s exists", f.path)
		}
		f.number++
		f.path = numbered(f.base, f.number)
	}
}

// replace renames the part, and replaces an existing file. If there was no file
// at Create, replace first tries a rename that fails if a file exists now.
func (f *File) replace() error {
	if hasRenameNew && !f.exists {
		if f.fs.RenameNew(f.part, f.path) == nil {
			return nil
		}
		f.exists = true // a file exists now, or RenameNew is not supported
		if err := f.finalizePart(); err != nil {
			return err
		}
	}
	return f.fs.Rename(f.part, f.path)
}

// remove removes the part and its state. If the system can rename an open file,
// the part is still locked while it is removed.
func (f *File) remove() error {
	var err error
	if !canRenameOpenFile {
		err = f.close()
	}
	return errors.Join(err, f.removeState(), ignoreNotExist(f.fs.Remove(f.part)))
}

func (f *File) close() error {
	if f.h == nil {
		return nil
	}
	h := f.h
	f.h = nil
	return h.Close()
}

// ignoreNotExist returns err, or nil if err means that a file does not exist.
func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
