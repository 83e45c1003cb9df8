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

// The folders of an archive that a Store keeps.
const (
	Dir   = "tree"  // what was brought
	attic = "attic" // what is no longer there to be brought
	Tmp   = "tmp"   // what is on its way
)

// Options say how a Store keeps its files. The zero value is right.
type Options struct {
	// NoSync leaves it to the system when files reach the disk: a loss of
	// power may then take what was committed.
	NoSync bool
}

// A Store keeps the files of an archive. Everything goes through the root of
// its folder: no path and no link leads out of it. It is safe for concurrent
// use. Its errors are of the classes fetch.Local and fetch.DiskFull.
type Store struct {
	o     Options
	dir   string
	root  *os.Root
	tmp   *folder
	parts *os.Root // of tmp
	seq   atomic.Uint64

	mu      sync.Mutex
	folders map[string]*folder // open, by their paths from the root
	order   []string           // of their opening
	held    *folder            // is not to be closed
}

// Open opens the archive at dir, which is made if it is not there.
func Open(dir string, o Options) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, local(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, local(err)
	}
	s := &Store{o: o, dir: dir, root: root, folders: map[string]*folder{}}
	// What is on its way is nobody else's business.
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
		return nil, local(err)
	}
	return s, nil
}

// Close closes what the Store has open.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := errors.Join(s.tmp.close(), s.parts.Close())
	for _, f := range s.folders {
		err = errors.Join(err, f.close())
	}
	s.folders, s.order = nil, nil
	return local(errors.Join(err, s.root.Close()))
}

// Create begins a file. Nothing is seen of it before Commit. The label, which
// others may have too, says whose it is: a name that every system can hold,
// without a dot.
func (s *Store) Create(label string) (*File, error) {
	for {
		name := s.partName(label)
		f, err := s.tmp.create(name)
		if errors.Is(err, fs.ErrExist) {
			continue // of another process, or of one that was killed
		}
		if err != nil {
			return nil, local(err)
		}
		return &File{s: s, f: f, name: name}, nil
	}
}

// partName is another name for a file in tmp.
func (s *Store) partName(label string) string {
	return label + "." + strconv.FormatUint(s.seq.Add(1), 36) + ".part"
}

// Left yields the files that a process left which was killed before their Commit,
// but for Parts. What it yields is the caller's to end. Only who knows that no other process
// works on the archive may call it.
func (s *Store) Left() iter.Seq2[*File, error] {
	return func(yield func(*File, error) bool) {
		entries, err := fs.ReadDir(s.parts.FS(), ".")
		if err != nil {
			yield(nil, local(err))
			return
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || s.isPart(e.Name()) {
				continue
			}
			f, err := s.left(e.Name())
			if !yield(f, local(err)) {
				return
			}
		}
	}
}

func (s *Store) left(name string) (*File, error) {
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

// Clean removes what a killed process left unfinished, but for Parts. Only who knows that no
// other process works on the archive may call it, before its first Create.
func (s *Store) Clean() error {
	f, err := s.parts.Open(".")
	if err != nil {
		return local(err)
	}
	defer f.Close()
	for {
		names, err := f.Readdirnames(1024)
		for _, name := range names {
			if s.isPart(name) {
				continue
			}
			if err := s.parts.RemoveAll(name); err != nil {
				return local(err)
			}
		}
		if len(names) == 0 {
			if err == io.EOF {
				err = nil
			}
			return local(err)
		}
	}
}

// Open opens a file of the tree for reading. What is no regular file, a link
// among them, is refused.
func (s *Store) Open(path string) (*os.File, error) {
	named, err := s.Stat(path)
	if err != nil {
		return nil, err
	}
	if !named.Mode().IsRegular() {
		return nil, fetch.Local.Errorf("%s is no file", path)
	}
	f, err := s.root.Open(Dir + "/" + path)
	if err != nil {
		return nil, local(err)
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(named, opened) {
		err = fetch.Local.Errorf("%s was changed by somebody else", path)
	}
	if err != nil {
		f.Close()
		return nil, local(err)
	}
	return f, nil
}

// Stat tells what lies at path, which may be a link.
func (s *Store) Stat(path string) (fs.FileInfo, error) {
	if err := valid(path); err != nil {
		return nil, err
	}
	info, err := s.root.Lstat(Dir + "/" + path)
	return info, local(err)
}

// valid refuses what is no path of the tree.
func valid(path string) error {
	if !fs.ValidPath(path) || path == "." {
		return fetch.Usage.Errorf("%q is no path of the tree", path)
	}
	return nil
}

// Attic moves a file of the tree into the attic of a run, in the place of one
// that lies there. SyncFolders makes it durable.
func (s *Store) Attic(name, run string) error {
	if err := valid(name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	from, err := s.folder(path.Dir(Dir + "/" + name))
	if err != nil {
		return local(err)
	}
	s.held = from
	defer func() { s.held = nil }()
	to, err := s.folder(path.Dir(attic + "/" + Name(run) + "/" + name))
	if err != nil {
		return local(err)
	}
	return local(from.rename(path.Base(name), to, path.Base(name)))
}

// local classes an error of the file system.
func local(err error) error {
	var fault fetch.Fault
	switch {
	case err == nil || errors.As(err, &fault):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fetch.DiskFull.With(err)
	}
	return fetch.Local.With(err)
}
