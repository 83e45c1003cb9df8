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

// A File is on its way into the tree. It is not safe for concurrent use. It
// ends with Commit, Discard or Close.
type File struct {
	s      *Store
	f      *os.File
	name   string // in tmp
	size   int64
	synced bool
	done   bool
	err    error // of the first write or sync that failed
}

// Write appends to the file. After an error every later call returns it.
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
	f.err = local(err)
	return n, f.err
}

// Size returns how many bytes were written.
func (f *File) Size() int64 { return f.size }

// Open opens what was written, from its beginning, for reading.
func (f *File) Open() (*os.File, error) {
	r, err := f.s.parts.Open(f.name)
	return r, local(err)
}

// Discard ends f without a trace. After Commit it does nothing.
func (f *File) Discard() error {
	if f.done {
		return nil
	}
	return errors.Join(f.Close(), local(f.s.parts.Remove(f.name)))
}

// Close ends f and leaves it where Left of another process finds it.
func (f *File) Close() error {
	if f.done {
		return nil
	}
	f.done = true
	return local(f.f.Close())
}

// Label is that of Create, or the name of what Adopt was given.
func (f *File) Label() string {
	label, _, _ := strings.Cut(f.name, ".")
	return label
}

// Commit gives the file its path in the tree, in the place of one that lies
// there, and ends f. Modified is its time; zero: now. A file that was not synced
// is synced first. If anything fails, the path is what it was before, and f ends
// as by Close.
//
// After a loss of power the name is sure to be there from SyncFolders on.
func (f *File) Commit(name string, modified time.Time) error {
	if f.done {
		return fetch.Usage.With(fs.ErrClosed)
	}
	if !f.synced {
		f.s.Sync(f)
	}
	err := f.err
	if err == nil {
		err = valid(name)
	}
	if err == nil {
		err = f.commit(Dir+"/"+name, modified)
	}
	return local(errors.Join(err, f.Close()))
}

func (f *File) commit(name string, modified time.Time) error {
	s := f.s
	if !modified.IsZero() {
		s.tmp.chtimes(f.name, modified) // for show alone: a file without it is whole
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
