package save

import (
	"errors"
	"io/fs"

	"github.com/anyurl/fetch/fetch"
)

// Commit makes the saved bytes durable, publishes them under the name of the
// file, and closes the File. If Commit fails, the existing file is unchanged,
// and the part file is kept or removed as by [File.Close]. However, if only the
// final sync of the folder fails, the new file is already published.
//
// In a [Folder], Commit syncs the folder only for each 64th file, so that the
// names of up to 63 files are durable only after [Folder.Close].
//
// If the Size of the object is known and the File has another length, Commit
// fails with fetch.Truncated or fetch.Mismatch. If a check of Options.Verify
// fails, Commit returns its error and removes the part file.
func (f *File) Commit() error {
	if err := f.checkOpen(); err != nil {
		f.Close()
		return err
	}
	if f.device {
		return errors.Join(f.verify(), f.Close())
	}
	if err := f.commit(); err != nil {
		f.Close()
		return fetch.LocalError(err)
	}
	f.done = true
	if f.savedOffset > 0 {
		f.removeState() // an error is harmless, because a state file without a part file is ignored
	}
	f.o.Folder.release(f.claimed)
	return fetch.LocalError(errors.Join(f.syncName(), f.close()))
}

// syncName makes the new name of the file durable. A Folder does so later.
func (f *File) syncName() error {
	if f.o.Folder.contains(f.path) {
		return f.o.Folder.syncSoon()
	}
	dir, _ := split(f.path)
	return f.fs.SyncDir(dir)
}

// commit performs the steps of Commit up to and including the rename of the
// part file.
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
	if f.keepBytes > 0 && f.keepBytes == f.final.Size && len(f.checks)+len(f.late) == 0 {
		return f.remove() // the existing file is already complete
	}
	if err := f.copyExisting(); err != nil {
		return err
	}
	if err := f.verify(); err != nil {
		f.o.Resume, f.savedOffset = false, 0 // Close removes the part file
		return err
	}
	if f.unnamed != nil {
		if published, err := f.publishUnnamed(); published || err != nil {
			return err
		}
		if err := f.moveToPart(); err != nil {
			return err
		}
	}
	if err := f.finalizePart(); err != nil {
		return err
	}
	return f.publish()
}

// finalizePart sets the mode and the modification time of the part file and
// syncs it.
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

// publish renames the part file to the final name, according to
// Options.Existing.
func (f *File) publish() error {
	if f.o.Existing.replaces() {
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

// replace renames the part file to the final name and replaces an existing
// file. If no file existed at the last check, replace first tries a rename that
// fails if a file exists now.
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

// remove removes the part file and the state file. On systems that can rename
// an open file, the part file stays locked until it is removed.
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

// ignoreNotExist returns nil if err reports that a file does not exist, and err
// otherwise.
func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
