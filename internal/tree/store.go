package tree

import (
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/anyurl/fetch/fetch"
)

// The folders of an archive that a Store uses.
const (
	Dir   = "tree"  // retrieved files
	attic = "attic" // files that were deleted on the server
	Tmp   = "tmp"   // temporary files
)

// Options configure a Store. The zero value is valid.
type Options struct {
	// NoSync disables syncing. A power failure may then lose published files.
	NoSync bool
}

// A Store writes the files of an archive. All accesses go through the root of
// the folder, so no path and no link leads out of the archive. A Store is safe
// for concurrent use. Its errors have the classes fetch.Local and
// fetch.DiskFull.
type Store struct {
	o     Options
	dir   string
	root  *os.Root
	tmp   *folder
	parts *os.Root // root of tmp
	seq   atomic.Uint64

	mu      sync.Mutex
	folders map[string]*folder // open folders by path
	order   []string           // paths of open folders, oldest first
	held    *folder            // folder that evict must not close, or nil
}

// Open opens the archive in dir. It creates a missing folder.
func Open(dir string, o Options) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, classify(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, classify(err)
	}
	s := &Store{o: o, dir: dir, root: root, folders: map[string]*folder{}}
	// Only the owner may read temporary files.
	if err = root.Mkdir(Tmp, 0o700); err == nil || errors.Is(err, fs.ErrExist) {
		s.tmp, err = openFolder(root, Tmp)
	}
	if err == nil {
		if s.parts, err = root.OpenRoot(Tmp); err != nil {
			s.tmp.close()
		}
	}
	if err != nil {
		root.Close()
		return nil, classify(err)
	}
	return s, nil
}

// Close closes all open folders and files of the Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := errors.Join(s.tmp.close(), s.parts.Close())
	for _, f := range s.folders {
		err = errors.Join(err, f.close())
	}
	s.folders, s.order = nil, nil
	return classify(errors.Join(err, s.root.Close()))
}

// Create creates a temporary file for Publish. The label identifies its owner
// and need not be unique. It must be a valid file name without a dot.
func (s *Store) Create(label string) (*File, error) {
	for {
		name := s.partName(label)
		f, err := s.tmp.create(name)
		if errors.Is(err, fs.ErrExist) {
			continue // the name belongs to another or a killed process
		}
		if err != nil {
			return nil, classify(err)
		}
		return &File{s: s, f: f, name: name}, nil
	}
}

// partName returns a new name for a file in tmp.
func (s *Store) partName(label string) string {
	return label + "." + strconv.FormatUint(s.seq.Add(1), 36) + ".part"
}

// Unpublished returns the files that a killed process did not publish, except
// for partial bodies. The caller must end each file. No other process may use
// the archive.
func (s *Store) Unpublished() iter.Seq2[*File, error] {
	return func(yield func(*File, error) bool) {
		entries, err := fs.ReadDir(s.parts.FS(), ".")
		if err != nil {
			yield(nil, classify(err))
			return
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || s.isPart(e.Name()) {
				continue
			}
			f, err := s.openUnpublished(e.Name())
			if !yield(f, classify(err)) {
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

// Clean removes the files that a killed process did not publish, except for
// partial bodies. No other process may use the archive. Call Clean before the
// first Create.
func (s *Store) Clean() error {
	f, err := s.parts.Open(".")
	if err != nil {
		return classify(err)
	}
	defer f.Close()
	for {
		names, err := f.Readdirnames(1024)
		for _, name := range names {
			if s.isPart(name) {
				continue
			}
			if err := s.parts.RemoveAll(name); err != nil {
				return classify(err)
			}
		}
		if len(names) == 0 {
			if err == io.EOF {
				err = nil
			}
			return classify(err)
		}
	}
}

// Open opens a file of the tree for reading. It rejects links and other files
// that are not regular.
func (s *Store) Open(path string) (*os.File, error) {
	named, err := s.Stat(path)
	if err != nil {
		return nil, err
	}
	if !named.Mode().IsRegular() {
		return nil, fetch.Local.Errorf("%s is not a regular file", path)
	}
	f, err := s.root.Open(Dir + "/" + path)
	if err != nil {
		return nil, classify(err)
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(named, opened) {
		err = fetch.Local.Errorf("%s was changed by another process", path)
	}
	if err != nil {
		f.Close()
		return nil, classify(err)
	}
	return f, nil
}

// Stat returns the properties of a file. It does not follow links.
func (s *Store) Stat(path string) (fs.FileInfo, error) {
	if err := validatePath(path); err != nil {
		return nil, err
	}
	info, err := s.root.Lstat(Dir + "/" + path)
	return info, classify(err)
}

// validatePath returns an error if path is not a valid path of the tree.
func validatePath(path string) error {
	if !fs.ValidPath(path) || path == "." {
		return fetch.Usage.Errorf("%q is not a path of the tree", path)
	}
	return nil
}

// MoveToAttic moves a file of the tree to the attic of a run and replaces an
// existing file there. SyncFolders makes the move durable.
func (s *Store) MoveToAttic(name, run string) error {
	if err := validatePath(name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	from, err := s.folder(path.Dir(Dir + "/" + name))
	if err != nil {
		return classify(err)
	}
	s.held = from
	defer func() { s.held = nil }()
	to, err := s.folder(path.Dir(attic + "/" + Name(run) + "/" + name))
	if err != nil {
		return classify(err)
	}
	return classify(from.rename(path.Base(name), to, path.Base(name)))
}

// classify adds the class fetch.Local or fetch.DiskFull to an error of the file
// system.
func classify(err error) error {
	var fault fetch.Fault
	switch {
	case err == nil || errors.As(err, &fault):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fetch.DiskFull.With(err)
	}
	return fetch.Local.With(err)
}
