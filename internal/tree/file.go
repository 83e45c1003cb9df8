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

// A File is a file that is not yet in the tree. The caller must end a File with
// Publish, Discard or Close. A File is not safe for concurrent use.
type File struct {
	s      *Store
	f      *os.File
	name   string // name in the folder tmp
	size   int64
	synced bool
	done   bool
	err    error // the first error of a write or sync
}

// Write appends p to the file. After an error, every later call returns the
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
	f.err = classify(err)
	return n, f.err
}

// Size returns the number of written bytes.
func (f *File) Size() int64 { return f.size }

// Open opens the file for reading from its beginning.
func (f *File) Open() (*os.File, error) {
	r, err := f.s.parts.Open(f.name)
	return r, classify(err)
}

// Discard removes f. A call after Publish has no effect.
func (f *File) Discard() error {
	if f.done {
		return nil
	}
	return errors.Join(f.Close(), classify(f.s.parts.Remove(f.name)))
}

// Close closes f and keeps its temporary file, so that another process can
// publish it. See Store.Unpublished.
func (f *File) Close() error {
	if f.done {
		return nil
	}
	f.done = true
	return classify(f.f.Close())
}

// Label returns the label given to Create, or the name of the part given to
// Adopt.
func (f *File) Label() string {
	label, _, _ := strings.Cut(f.name, ".")
	return label
}

// Publish moves the file to a path in the tree, replaces an existing file
// there, and ends f. Modified is the time of the file; zero means now. Publish
// syncs the file if necessary. After an error, the path is unchanged and f is
// closed.
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
		err = f.publish(Dir+"/"+name, modified)
	}
	return classify(errors.Join(err, f.Close()))
}

func (f *File) publish(name string, modified time.Time) error {
	s := f.s
	if !modified.IsZero() {
		s.tmp.chtimes(f.name, modified) // ignore errors, because the time is not essential
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
