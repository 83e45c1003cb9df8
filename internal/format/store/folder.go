package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
)

// uploads is the directory for the incomplete objects of a folder. They share
// one directory, so that they are easy to find after a crash.
const uploads = Reserved + "uploads"

// uploadTime is the time after which an incomplete object that does not grow is
// removed.
const uploadTime = 24 * time.Hour

// folder is a Store in a directory. Each object is a file. It is written in the
// directory uploads, synced, read again, and then linked to its name, which
// fails if the name exists.
type folder struct {
	root *os.Root
	url  string
}

// OpenFolder opens the Store with the URL file:///DIR. The directory must exist.
func OpenFolder(text string) (Store, error) {
	u, err := ParseURL(text, "file")
	if err != nil {
		return nil, err
	}
	name := filepath.FromSlash(u.Path)
	if u.Host != "" && u.Host != "localhost" || !strings.HasPrefix(u.Path, "/") || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, fetch.Usage.Errorf("store %s: the URL must be file:///DIR", u.Redacted())
	}
	if volume := strings.TrimPrefix(u.Path, "/"); filepath.VolumeName(filepath.FromSlash(volume)) != "" {
		name = filepath.FromSlash(volume) // such as file:///C:/archive on Windows
	}
	root, err := os.OpenRoot(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fetch.Local.Errorf("store %s: the directory does not exist: create it first", u)
	}
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", u, err)
	}
	return &folder{root, u.String()}, nil
}

func (s *folder) String() string { return s.url }

// failed wraps err with the operation, the store and the object name.
func (s *folder) failed(op, name string, err error) error {
	if err == nil {
		return nil
	}
	if fetch.FaultOf(err) == fetch.Internal {
		err = fetch.Local.With(err) // the error has no fault, such as an os.LinkError
	}
	return Fail(s, op, name, err)
}

func (s *folder) Put(ctx context.Context, name string, r io.ReaderAt, size int64, sum [sha256.Size]byte) error {
	if err := CheckName(name); err != nil {
		return err
	}
	exists, err := s.compare(ctx, name, size, sum)
	if !exists && err == nil {
		err = s.create(ctx, name, r, size, sum)
	}
	if !exists && errors.Is(err, fs.ErrExist) {
		// Another worker has just created the object, unless the error is about
		// another file.
		if found, other := s.compare(ctx, name, size, sum); found || other != nil {
			err = other
		}
	}
	if err == nil {
		err = s.syncFolders(name)
	}
	return s.failed("create", name, err)
}

// compare reports whether the object exists. The error wraps ErrConflict if the
// object differs from the given size and digest.
func (s *folder) compare(ctx context.Context, name string, size int64, sum [sha256.Size]byte) (exists bool, err error) {
	f, err := regularfile.OpenIn(s.root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return true, err
	}
	if info.Size() != size {
		return true, ErrConflict
	}
	got, err := Digest(ctx, f)
	if err == nil && got != sum {
		err = ErrConflict
	}
	return true, err
}

// create writes an object to a temporary file, verifies the file, and links it
// to the name of the object. It returns an error that wraps fs.ErrExist if the
// name exists.
func (s *folder) create(ctx context.Context, name string, r io.ReaderAt, size int64, sum [sha256.Size]byte) (err error) {
	if err := s.root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	if err := s.root.MkdirAll(uploads, 0o777); err != nil {
		return err
	}
	part := path.Join(uploads, rand.Text())
	defer func() {
		if removed := s.root.Remove(part); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}()
	if err := s.write(ctx, part, io.NewSectionReader(r, 0, size)); err != nil {
		return err
	}
	f, err := regularfile.OpenIn(s.root, part)
	if err != nil {
		return err
	}
	got, err := Digest(ctx, f)
	info, err2 := f.Stat()
	if err := errors.Join(err, err2, f.Close()); err != nil {
		return err
	}
	if got != sum || info.Size() != size {
		return Differs(name)
	}
	return s.root.Link(part, name)
}

func (s *folder) write(ctx context.Context, part string, r io.Reader) error {
	f, err := s.root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, &contextReader{ctx, r})
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncFolders syncs all parent directories of an object, so that its name is
// durable.
func (s *folder) syncFolders(name string) error {
	for {
		name = path.Dir(name)
		dir, err := s.root.OpenRoot(name)
		if err != nil {
			return err
		}
		if err := errors.Join(regularfile.SyncFolder(dir), dir.Close()); err != nil {
			return err
		}
		if name == "." {
			return nil
		}
	}
}

// Stat describes an object. It reads the complete file to compute the digest.
func (s *folder) Stat(ctx context.Context, name string) (Object, error) {
	f, err := s.open(name)
	if err != nil {
		return Object{}, err
	}
	defer f.Close()
	o := Object{Name: name, Size: f.Size(), Modified: f.info.ModTime()}
	o.SHA256, err = Digest(ctx, f)
	return o, s.failed("read", name, err)
}

func (s *folder) Open(_ context.Context, name string) (File, error) {
	f, err := s.open(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// folderFile is an open object of a folder.
type folderFile struct {
	*os.File
	info fs.FileInfo
}

func (f *folderFile) Size() int64 { return f.info.Size() }

func (s *folder) open(name string) (*folderFile, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	f, err := regularfile.OpenIn(s.root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, NotFound(s, name)
	}
	if err != nil {
		return nil, s.failed("open", name, err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, s.failed("open", name, errors.Join(err, f.Close()))
	}
	return &folderFile{f, info}, nil
}

func (s *folder) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		s.list(ctx, ".", prefix, yield)
	}
}

// list calls yield for the objects in a directory and its subdirectories. It
// returns false if yield returned false or an error occurred.
func (s *folder) list(ctx context.Context, dir, prefix string, yield func(Object, error) bool) bool {
	entries, err := fs.ReadDir(s.root.FS(), dir)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		yield(Object{}, s.failed("list", dir, err))
		return false
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(sortName(a), sortName(b)) })
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(name, Reserved):
		case e.IsDir() && (strings.HasPrefix(name+"/", prefix) || strings.HasPrefix(prefix, name+"/")):
			if !s.list(ctx, name, prefix, yield) {
				return false
			}
		case e.Type().IsRegular() && strings.HasPrefix(name, prefix):
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // the file was removed after ReadDir
			}
			if err != nil {
				yield(Object{}, s.failed("list", name, err))
				return false
			}
			if !yield(Object{Name: name, Size: info.Size(), Modified: info.ModTime()}, nil) {
				return false
			}
		}
	}
	return true
}

// sortName returns the name by which list sorts an entry. A directory name ends
// in a slash, as in the names of its objects.
func sortName(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}

// Check tests the store, and removes incomplete objects of processes that were
// killed.
func (s *folder) Check(ctx context.Context) error {
	name := path.Join(uploads, "check-"+rand.Text())
	err := s.root.MkdirAll(uploads, 0o777)
	if err == nil {
		err = s.write(ctx, name, strings.NewReader("fetch\n"))
	}
	if err == nil {
		err = s.root.Remove(name)
	}
	if err == nil {
		err = s.clean()
	}
	return s.failed("create", "a test object", err)
}

// clean removes incomplete objects that have not changed for uploadTime.
func (s *folder) clean() error {
	entries, err := fs.ReadDir(s.root.FS(), uploads)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && time.Since(info.ModTime()) > uploadTime {
			err = s.root.Remove(path.Join(uploads, e.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Digest returns the SHA-256 digest of the bytes of r.
func Digest(ctx context.Context, r io.Reader) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	if _, err := io.Copy(h, &contextReader{ctx, r}); err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	return sum, nil
}

// contextReader reads from r until the context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
