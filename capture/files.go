package capture

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/warc"
)

// Files are the WARC files of a recorder in a directory. Only one process at a
// time can open them.
type Files struct {
	*warc.Writer
	Resumed []string // files that an earlier process has not finished, and that OpenFiles repaired

	name string // name of the only file, or ""
	dir  *os.Root
	lock save.Handle
}

// lockName is the name of the file that a process locks if the names of the
// WARC files are not known before.
const lockName = ".fetch-record.lock"

// OpenFiles opens the WARC files in the directory dir for appending. If o.Name is
// set, this is the only file, and it must not exist. Otherwise OpenFiles creates
// the directory if it is missing.
//
// If an earlier process was killed, OpenFiles removes the incomplete records at
// the end of its last file. The complete records remain.
func OpenFiles(dir string, o warc.Options) (_ *Files, err error) {
	f := &Files{name: o.Name}
	lock := lockName
	if o.Name == "" {
		err = os.MkdirAll(dir, 0o777)
	} else {
		lock = o.Name + warc.OpenSuffix
		if _, failed := os.Lstat(filepath.Join(dir, o.Name)); failed == nil {
			err = fetch.Exists.Errorf("%s exists: records are never appended to a finished file", filepath.Join(dir, o.Name))
		}
	}
	if err != nil {
		return nil, fetch.LocalError(err)
	}
	if f.lock, err = save.OpenLock(filepath.Join(dir, lock)); err != nil {
		return nil, err
	}
	if f.dir, err = os.OpenRoot(dir); err == nil {
		if f.Writer, err = warc.NewWriter(f.dir, o); err == nil {
			err = f.resume()
		}
	}
	if err != nil {
		f.lock.Close()
		if f.dir != nil {
			f.dir.Close()
		}
		return nil, fetch.LocalError(err)
	}
	return f, nil
}

// resume repairs the unfinished files.
func (f *Files) resume() error {
	entries, err := fs.ReadDir(f.dir.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, open := strings.CutSuffix(e.Name(), warc.OpenSuffix)
		if !open || !warc.IsFileName(name) || f.name != "" && name != f.name {
			continue
		}
		end, err := f.lastGroup(e.Name())
		if err != nil {
			return err
		}
		if end > 0 {
			f.Resumed = append(f.Resumed, name)
		} else if f.name != "" {
			continue // the Writer truncates the locked file
		}
		if err := f.Resume(name, end); err != nil {
			return err
		}
	}
	return nil
}

// lastGroup returns the offset after the last complete group of records in a
// file, or 0 if the file has only a warcinfo record.
func (f *Files) lastGroup(name string) (end int64, err error) {
	file, err := regularfile.OpenFileIn(f.dir, name, os.O_RDONLY, 0)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	pending := map[string]bool{} // IDs of records that must follow
	for r := warc.NewReader(file); ; {
		h, length, err := nextRecord(r)
		if err != nil {
			return end, checkEnd(r, name, err)
		}
		if h.Type() == warc.Info {
			continue
		}
		delete(pending, h.ID())
		for _, id := range h.Fields.Values("WARC-Concurrent-To") {
			if h.Type() == warc.Response || h.Type() == warc.Revisit { // the first record of a group names the others
				pending[strings.Trim(id, "<>")] = true
			}
		}
		if len(pending) == 0 {
			end = h.Offset + length
		}
	}
}

func nextRecord(r *warc.Reader) (h *warc.Header, length int64, err error) {
	if h, err = r.Next(); err == nil {
		length, err = r.Finish()
	}
	return h, length, err
}

// checkEnd returns nil if err is the error of an incomplete record at the end of
// a file. It returns an error if more records follow, because they would be
// lost.
func checkEnd(r *warc.Reader, name string, err error) error {
	var path *fs.PathError
	if err != io.EOF && errors.As(err, &path) {
		return err
	}
	if _, _, next := nextRecord(r); err != io.EOF && next == nil {
		return fetch.Mismatch.Errorf("%s is damaged before its last record: move it away, and repair it with fetch recover", name)
	}
	return nil
}

// Close finishes the current file. If failed is not nil, the records may be
// incomplete, and the file does not get its final name.
func (f *Files) Close(failed error) error {
	var err error
	if failed != nil {
		err = f.Abandon()
	} else if err = f.Writer.Close(); err == nil && f.name != "" {
		if err = f.dir.Remove(f.name + warc.OpenSuffix); errors.Is(err, fs.ErrNotExist) { // the file has its final name
			err = nil
		}
	}
	return fetch.LocalError(errors.Join(err, f.lock.Close(), f.dir.Close()))
}
