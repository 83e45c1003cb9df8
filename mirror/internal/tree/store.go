package tree

import (
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
)

// The directories of an archive that a Store uses.
const (
	Dir   = "tree"  // retrieved files
	Attic = "attic" // files that were deleted on the server or are damaged
	Tmp   = "tmp"   // temporary files
)

// PlainTmp names the directory for temporary files if Options.Plain is set. It
// is created next to the directories of the schemes. No path of a URL begins
// with this name.
const PlainTmp = ".fetch-export"

// Options contains the settings of a Store. The zero value is ready to use.
type Options struct {
	// If NoSync is true, the Store syncs no files. A power failure can then
	// lose published files.
	NoSync bool

	// If Plain is true, paths are relative to the directory of the Store, not
	// to its subdirectory "tree". Temporary files are in the directory
	// PlainTmp. Attic and partial files are not available.
	Plain bool

	// If ReadOnly is true, the Store creates no folder for temporary files. It
	// then supports only the methods that read: Close, Open, Stat, Unpublished
	// and Walk.
	ReadOnly bool
}

// A Store writes the files of an archive. It resolves all paths relative to the
// open directory, so that no path and no link leads outside of the archive. A
// Store is safe for concurrent use. Its errors wrap fetch.Local or
// fetch.DiskFull.
type Store struct {
	o     Options
	dir   string
	root  *os.Root
	tmp   *folder
	parts *os.Root // root of tmp; nil if tmp does not exist and Options.ReadOnly is set
	seq   atomic.Uint64

	syncsAll bool // Sync may use syncAll

	mu      sync.Mutex
	folders map[string]*folder // open directories by path
	order   []string           // paths of the open directories, oldest first
	held    *folder            // directory that evict must not close, or nil

	last lastFolder // directory of the last call of Stat
}

// Open opens the archive in the directory dir. If the directory is missing,
// Open creates it.
func Open(dir string, o Options) (*Store, error) {
	if err := regularfile.MakeFolder(dir); err != nil {
		return nil, fetch.LocalError(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fetch.LocalError(err)
	}
	s := &Store{o: o, dir: dir, root: root, folders: map[string]*folder{}}
	tmp := Tmp
	if o.Plain {
		tmp = PlainTmp
	}
	if !o.ReadOnly {
		err = root.Mkdir(tmp, 0o700) // only the owner may read temporary files
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		s.tmp, err = openFolder(root, tmp)
	}
	switch {
	case err == nil:
		s.syncsAll = canSyncAll(s.tmp.dir)
		if s.parts, err = root.OpenRoot(tmp); err != nil {
			s.tmp.close()
		}
	case o.ReadOnly && errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err != nil {
		root.Close()
		return nil, fetch.LocalError(err)
	}
	return s, nil
}

// Close closes all open directories and files of the Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.last.close()
	if s.parts != nil {
		err = errors.Join(err, s.tmp.close(), s.parts.Close())
	}
	for _, f := range s.folders {
		err = errors.Join(err, f.close())
	}
	s.folders, s.order = nil, nil
	return fetch.LocalError(errors.Join(err, s.root.Close()))
}

// Create creates a temporary file that Publish can move to the tree. The label
// identifies the owner of the file. It must be a valid file name without a dot,
// and need not be unique.
func (s *Store) Create(label string) (*File, error) {
	for {
		name := s.partName(label)
		f, err := s.tmp.create(name)
		if errors.Is(err, fs.ErrExist) {
			continue // the file belongs to another process or to a killed process
		}
		if err != nil {
			return nil, fetch.LocalError(err)
		}
		return &File{s: s, f: f, name: name}, nil
	}
}

// partName returns a name for a temporary file that this Store has not used.
func (s *Store) partName(label string) string {
	return label + "." + strconv.FormatUint(s.seq.Add(1), 36) + ".part"
}

// Unpublished returns the temporary files of a killed process, except for
// partial files. The caller must publish, discard or close each file. No other
// process may use the archive at the same time.
func (s *Store) Unpublished() iter.Seq2[*File, error] {
	return func(yield func(*File, error) bool) {
		if s.parts == nil {
			return
		}
		entries, err := fs.ReadDir(s.parts.FS(), ".")
		if err != nil {
			yield(nil, fetch.LocalError(err))
			return
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || s.isPart(e.Name()) {
				continue
			}
			f, err := s.openUnpublished(e.Name())
			if !yield(f, fetch.LocalError(err)) {
				return
			}
		}
	}
}

func (s *Store) openUnpublished(name string) (*File, error) {
	f, err := s.parts.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &File{s: s, f: f, name: name, size: info.Size()}, nil
}

// Clean removes the temporary files of a killed process, except for partial
// files and the files with the names in keep. It must be called before the first
// call of Create. No other process may use the archive at the same time.
func (s *Store) Clean(keep ...string) error {
	f, err := s.parts.Open(".")
	if err != nil {
		return fetch.LocalError(err)
	}
	defer f.Close()
	for {
		names, err := f.Readdirnames(1024)
		for _, name := range names {
			if s.isPart(name) || slices.Contains(keep, name) {
				continue
			}
			if err := s.parts.RemoveAll(name); err != nil {
				return fetch.LocalError(err)
			}
		}
		if len(names) == 0 {
			if err == io.EOF {
				err = nil
			}
			return fetch.LocalError(err)
		}
	}
}

// Open opens a file in the tree for reading. It returns an error for links and
// for other files that are not regular.
func (s *Store) Open(path string) (*os.File, error) {
	named, err := s.Stat(path)
	if err != nil {
		return nil, err
	}
	if !named.Mode().IsRegular() {
		return nil, fetch.Local.Errorf("%s is not a regular file", path)
	}
	f, err := s.root.Open(s.filePath(path))
	if err != nil {
		return nil, fetch.LocalError(err)
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(named, opened) {
		err = fetch.Local.Errorf("%s was changed by another process", path)
	}
	if err != nil {
		f.Close()
		return nil, fetch.LocalError(err)
	}
	return f, nil
}

// Stat returns the file information of a file in the tree. It does not follow
// links.
func (s *Store) Stat(path string) (fs.FileInfo, error) {
	if err := validatePath(path); err != nil {
		return nil, err
	}
	info, err := s.last.lstat(s.root, s.filePath(path))
	return info, fetch.LocalError(err)
}

// filePath returns the path of a file in the tree relative to the root.
func (s *Store) filePath(path string) string {
	if s.o.Plain {
		return path
	}
	return Dir + "/" + path
}

// validatePath returns an error if path is not a valid path in the tree.
func validatePath(path string) error {
	if !fs.ValidPath(path) || path == "." {
		return fetch.Usage.Errorf("%q is not a path of the tree", path)
	}
	return nil
}

// MoveToAttic moves a file from the tree to the attic of a run. It replaces an
// existing file there. The move is durable after SyncFolders.
func (s *Store) MoveToAttic(name, run string) error {
	return s.move(name, Dir+"/"+name, Attic+"/"+Name(run)+"/"+name)
}

// MoveAside moves any file of the archive to the attic of a run. The name is
// relative to the directory of the archive, and the file has the same name
// relative to the attic of the run. The move is durable after SyncFolders.
func (s *Store) MoveAside(name, run string) error {
	return s.move(name, name, Attic+"/"+Name(run)+"/"+name)
}

// move renames oldPath to newPath. It returns an error if name, the path that
// the caller passed, is invalid.
func (s *Store) move(name, oldPath, newPath string) error {
	if err := validatePath(name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	from, err := s.folder(path.Dir(oldPath))
	if err != nil {
		return fetch.LocalError(err)
	}
	s.held = from
	defer func() { s.held = nil }()
	to, err := s.folder(path.Dir(newPath))
	if err != nil {
		return fetch.LocalError(err)
	}
	return fetch.LocalError(from.rename(path.Base(oldPath), to, path.Base(newPath)))
}
