package archive

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/save"
)

// Names of files and directories in an archive. Package tree defines the names
// of tree, attic and tmp.
const (
	database    = "fetch.db"
	lockFile    = "lock"
	warcFolder  = "warc"
	indexFolder = "index"
	indexFile   = indexFolder + "/all.cdxj"
	manifest    = "manifest-sha256.txt"
	mailFolder  = "mail"
	journalFile = "crawl.jsonl"
	failedFile  = "failed.txt"
	reportJSON  = "report.json"
	reportText  = "report.txt"
	optionsFile = "options.json"
)

// A folder is the directory of an archive. A lock file in the directory
// prevents two processes from changing the archive at the same time.
type folder struct {
	dir    string
	root   *os.Root
	lock   save.Handle
	locked bool // if true, this process holds the lock
}

func openFolder(dir string) (folder, error) {
	root, err := os.OpenRoot(dir)
	return folder{dir: dir, root: root}, err
}

// acquireLock prevents other processes from changing the archive until close is
// called.
func (f *folder) acquireLock() (err error) {
	if f.lock, err = save.OpenLock(filepath.Join(f.dir, lockFile)); errors.Is(err, fetch.InUse) {
		return fetch.InUse.Errorf("%s is in use by another process", f.dir)
	}
	f.locked = err == nil
	return err
}

func (f *folder) close() (err error) {
	if f.lock != nil {
		err = f.lock.Close()
	}
	if f.root != nil {
		err = errors.Join(err, f.root.Close())
	}
	return err
}

// readStart returns the first bytes of a file, at most limit bytes.
func readStart(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := regularfile.OpenIn(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// replaceFile writes a new version of a file. It creates a partial file, fills
// it by calling write, syncs it and renames it to name. If write fails, the old
// file is unchanged. A killed process leaves name.part, which the next call for
// the same file replaces.
func replaceFile(root *os.Root, name string, write func(w io.Writer) error) error {
	return replaceFrom(root, name+".part", name, write)
}

// replaceFrom is like replaceFile, but the partial file has the name part. In the
// directory tmp, the next Open removes it.
func replaceFrom(root *os.Root, part, name string, write func(w io.Writer) error) (err error) {
	if err := root.MkdirAll(filepath.ToSlash(filepath.Dir(name)), 0o777); err != nil {
		return err
	}
	if err := root.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := regularfile.OpenFileIn(root, part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 64<<10)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, root.Remove(part))
	}
	return root.Rename(part, name)
}

// syncFolders commits the names in directories to stable storage.
func syncFolders(root *os.Root, dirs ...string) error {
	for _, name := range dirs {
		dir, err := root.OpenRoot(name)
		if err != nil {
			return err
		}
		if err := errors.Join(regularfile.SyncFolder(dir), dir.Close()); err != nil {
			return err
		}
	}
	return nil
}

// WhileIdle locks the archive in the directory dir and calls f. If another
// process holds the lock, the error wraps fetch.InUse. If the lock file cannot
// be opened, for example on a read-only medium, WhileIdle calls f without a
// lock.
func WhileIdle(dir string, f func() error) error {
	held, err := openFolder(dir)
	if err == nil {
		defer held.close()
		_, err = held.root.Stat(lockFile)
	}
	if err == nil && errors.Is(held.acquireLock(), fetch.InUse) {
		return fetch.InUse.Errorf("%s is in use by another process: try again after it has finished", dir)
	}
	return f()
}
