package save

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
)

// syncEvery is the number of new names in a Folder after which it is synced.
const syncEvery = 64

// A Folder speeds up saving several files in one folder. It keeps the folder
// open and caches the permissions of new files. The umask of the process and
// the ACL of the folder must therefore not change. A Folder is safe for
// concurrent use.
//
// The content of a file is durable before the file gets its name, also in a
// Folder. The name itself is durable after Close, because a Folder syncs many
// names at once. If the system fails before, files can be missing, but no file
// is incomplete.
//
// On Linux, new files up to 256 KiB have no part file and no lock. Create still
// returns fetch.InUse if another File with the same Folder writes the file. It
// also returns fetch.InUse if another process has a part file for it, which
// existed when the Folder was opened or belongs to a larger file. If two
// processes write the same small file at the same time, both succeed, and the
// later file replaces the other.
type Folder struct {
	fs        folderFS
	name      string                      // path in the form that split returns
	mode      atomic.Pointer[fs.FileMode] // nil if unknown
	noUnnamed atomic.Bool                 // the file system has no files without names
	added     atomic.Uint64               // number of new names
	listed    map[string]bool             // names in the folder when it was opened, or nil if there are many

	mu      sync.Mutex
	writing map[string]bool // paths of the open Files
	err     error           // first error of a sync
}

// OpenFolder opens a folder for use in Options.Folder.
func OpenFolder(name string) (*Folder, error) {
	folder, _ := split(filepath.Join(name, "file")) // the form in which Create splits a path
	s, err := openSystem(folder)
	if err != nil {
		return nil, fetch.LocalError(err)
	}
	return &Folder{fs: s, name: folder, listed: listNames(folder), writing: map[string]bool{}}, nil
}

// maxListed is the maximum number of names that a Folder remembers.
const maxListed = 1000

// listNames returns the names in a folder. It returns nil if there are many, or
// if they cannot be read.
func listNames(folder string) map[string]bool {
	d, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, err := d.Readdirnames(maxListed + 1)
	if err != nil && err != io.EOF || len(names) > maxListed {
		return nil
	}
	listed := make(map[string]bool, len(names))
	for _, name := range names {
		listed[name] = true
	}
	return listed
}

// lacked reports whether the folder had no file at path when it was opened. A
// file that exists now is found when the new file gets its name.
func (f *Folder) lacked(path string) bool {
	if f == nil || f.listed == nil || !f.contains(path) {
		return false
	}
	_, base := split(path)
	return !f.listed[base]
}

// Close makes the names of all files durable and closes the folder. It must be
// called after all Files in the folder are closed. If Close or an earlier sync
// of the folder failed, Close returns the error, because names of files may be
// lost after a system failure. Close has no effect if f is nil.
func (f *Folder) Close() error {
	if f == nil {
		return nil
	}
	if f.added.Load()%syncEvery != 0 {
		f.sync()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return fetch.LocalError(errors.Join(f.err, f.fs.close()))
}

// contains reports whether path is the path of a file in the folder.
func (f *Folder) contains(path string) bool {
	folder, _ := split(path)
	return f != nil && folder == f.name
}

// claim reserves a path for one File. It returns false if another File has
// reserved it. Paths outside of the folder are not reserved.
func (f *Folder) claim(path string) bool {
	if !f.contains(path) {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.writing[path] {
		return false
	}
	f.writing[path] = true
	return true
}

// release ends a reservation of claim.
func (f *Folder) release(path string) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.writing, path)
}

// syncSoon counts a new name, and syncs the folder if enough names are new. An
// error concerns the names of several files, so Close returns it again.
func (f *Folder) syncSoon() error {
	if f.added.Add(1)%syncEvery != 0 {
		return nil
	}
	return f.sync()
}

func (f *Folder) sync() error {
	err := f.fs.SyncDir(f.name)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
	return err
}
