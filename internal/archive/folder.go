package archive

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/regularfile"
	"github.com/anyurl/fetch/save"
)

// The names in the folder of an archive, besides those of package tree.
const (
	database    = "fetch.db"
	lockFile    = "lock"
	warcFolder  = "warc"
	indexFile   = "index/all.cdxj"
	manifest    = "manifest-sha256.txt"
	mailFolder  = "mail"
	journalFile = "crawl.jsonl"
	failedFile  = "failed.txt"
)

// folder is the folder of an archive, and the lock on it. One process changes
// an archive at a time.
type folder struct {
	dir   string
	root  *os.Root
	lock  save.Handle
	alone bool // lock is ours
}

func openFolder(dir string) (folder, error) {
	root, err := os.OpenRoot(dir)
	return folder{dir: dir, root: root}, err
}

// hold keeps other processes from changing the archive until close.
func (f *folder) hold() (err error) {
	if f.lock, err = save.OpenLock(filepath.Join(f.dir, lockFile)); errors.Is(err, fetch.InUse) {
		return fetch.InUse.Errorf("another process works on %s", f.dir)
	}
	f.alone = err == nil
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

// replace writes the file name with write, and puts it in the place of an
// earlier one when it is complete and on the disk.
func replace(root *os.Root, name string, write func(w io.Writer) error) (err error) {
	if err := root.MkdirAll(filepath.ToSlash(filepath.Dir(name)), 0o777); err != nil {
		return err
	}
	part := name + ".part"
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

// Idle calls f while no run, and nothing else that changes it, works on the
// archive at dir. It is fetch.InUse if something does. A folder whose lock
// cannot be opened, such as one on a medium that is read only, is idle.
func Idle(dir string, f func() error) error {
	held, err := openFolder(dir)
	if err == nil {
		defer held.close()
		_, err = held.root.Stat(lockFile)
	}
	if err == nil && errors.Is(held.hold(), fetch.InUse) {
		return fetch.InUse.Errorf("%s is in use: fetch mirror, or another command, is running on it; try again when it has ended", dir)
	}
	return f()
}
