package tree

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// A File is a temporary file that is not yet in the tree. The caller must call
// Publish, Discard or Close. A File is not safe for concurrent use.
type File struct {
	s      *Store
	f      *os.File
	name   string // name in the directory tmp
	size   int64
	synced bool
	done   bool
	err    error // first error of a write or sync
}

// Write appends p to the file. After an error, all later calls return the same
// error.
func (f *File) Write(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	if f.done {
		return 0, fetch.Usage.With(fs.ErrClosed)
	}
	n, err := f.f.Write(p)
	f.size += int64(n)
	f.synced = false
	f.err = fetch.LocalError(err)
	return n, f.err
}

// Size returns the number of bytes written to the file.
func (f *File) Size() int64 { return f.size }

// Open opens the file for reading from its beginning.
func (f *File) Open() (*os.File, error) {
	r, err := f.s.parts.Open(f.name)
	return r, fetch.LocalError(err)
}

// Discard removes the file. After Publish or Close, it has no effect.
func (f *File) Discard() error {
	if f.done {
		return nil
	}
	return errors.Join(f.Close(), fetch.LocalError(f.s.parts.Remove(f.name)))
}

// Close closes the file but does not remove it. Another process can find it
// with Store.Unpublished and publish it.
func (f *File) Close() error {
	if f.done {
		return nil
	}
	f.done = true
	return fetch.LocalError(f.f.Close())
}

// Label returns the label passed to Create. For a File returned by Adopt, it
// returns the name of the partial file.
func (f *File) Label() string {
	label, _, _ := strings.Cut(f.name, ".")
	return label
}

// Publish moves the file to a path in the tree and replaces an existing file
// there. It sets the modification time to modified, or to the current time if
// modified is zero. Publish syncs the file if necessary. If Publish fails, the
// tree is unchanged and the File is closed.
//
// The name is durable after the next call of SyncFolders.
func (f *File) Publish(name string, modified time.Time) error {
	if f.done {
		return fetch.Usage.With(fs.ErrClosed)
	}
	if !f.synced {
		f.s.Sync(f)
	}
	err := f.err
	if err == nil {
		err = validatePath(name)
	}
	if err == nil {
		err = f.publish(f.s.filePath(name), modified)
	}
	return fetch.LocalError(errors.Join(err, f.Close()))
}

func (f *File) publish(name string, modified time.Time) error {
	s := f.s
	if !modified.IsZero() {
		s.tmp.chtimes(f.name, modified) // errors are ignored, because the time is not essential
	}
	if err := f.Close(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	to, err := s.folder(path.Dir(name))
	if err != nil {
		return err
	}
	return s.tmp.rename(f.name, to, path.Base(name))
}
