package save

import (
	"errors"
	"io/fs"

	"github.com/anyurl/fetch/fetch"
)

// Commit makes the file appear, whole and durable, and ends f. If it fails
// the path holds what it held before (save when only the last step failed, to
// make the new name durable: then it is the new file) and f is closed as by
// Close.
//
// A file whose Size is known and that is not that long is not published:
// fetch.Truncated or fetch.Mismatch.
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
		f.removeState() // a state that stays is of no part and so does no harm
	}
	dir, _ := split(f.path)
	return classify(errors.Join(f.fs.SyncDir(dir), f.close()))
}

// commit does all that comes before the file has its name.
func (f *File) commit() error {
	if !f.started {
		if err := f.Begin(State{Size: -1}); err != nil {
			return err
		}
	}
	switch s := f.state; {
	case len(f.overlap) > 0:
		return fetch.Truncated.Errorf("%s: not even what was there came again", f.path)
	case s.Size >= 0 && s.Offset < s.Size:
		return fetch.Truncated.Errorf("%s: %d of %d bytes", f.path, s.Offset, s.Size)
	case s.Size >= 0 && s.Offset > s.Size:
		return fetch.Mismatch.Errorf("%s: %d bytes instead of %d", f.path, s.Offset, s.Size)
	}
	if f.keepBytes > 0 && f.keepBytes == f.final.Size {
		return f.remove() // the existing file is all there is
	}
	if err := f.copyExisting(); err != nil {
		return err
	}
	if err := f.finalizePart(); err != nil {
		return err
	}
	return f.publish()
}

// finish gives the part the mode and time of the file and makes it durable.
func (f *File) finalizePart() error {
	if f.exists || !hasRenameNew {
		info, exists, err := lstatIfExists(f.fs, f.path)
		if err != nil {
			return err
		}
		if exists && info.Mode.IsRegular() && f.o.Mode == 0 {
			f.mode = info.Mode.Perm() // it may have changed, or come, since Create
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

// publish gives the part its name.
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

// replace gives the part its name whatever stands there. Where nothing did,
// what has come since Create is seen by a rename that must find nothing.
func (f *File) replace() error {
	if hasRenameNew && !f.exists {
		if f.fs.RenameNew(f.part, f.path) == nil {
			return nil
		}
		f.exists = true // or the file system has no such rename
		if err := f.finalizePart(); err != nil {
			return err
		}
	}
	return f.fs.Rename(f.part, f.path)
}

// remove removes part and state. Where a file can be renamed while it is open
// the part goes while it is still locked.
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

// gone forgives that what is to be removed is not there.
func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
