package archive

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/store"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// Shared describes a crawl whose frontier several workers share. Each worker has
// its own archive directory, which contains only its WARC files.
type Shared struct {
	Frontier frontier.Database // database of the frontier
	Worker   string            // name of this worker, which is unique in the crawl
	Pause    time.Duration     // minimum time between two requests to a host, if the process was restarted
	Again    bool              // if true, a completed crawl starts its next run
	Outage   func(error)       // called when the database becomes unavailable, and with nil when it responds again; or nil

	Store     store.Store                  // store for finished WARC files, or nil
	KeepLocal bool                         // if true, files remain in the directory after their upload
	Failed    func(name string, err error) // called after a failed upload that is repeated; required with Store
	Log       *slog.Logger                 // receives records of uploads; required with Store
}

// workerFile contains the identity of a worker. It links the directory to the
// database of the crawl.
const workerFile = "worker.json"

// An identity is the content of workerFile.
type identity struct {
	Worker      string `json:"worker"`
	Folder      string `json:"folder"`      // random identifier of the directory
	Incarnation int64  `json:"incarnation"` // 0 before the first connection to the database
}

// WorkerOf returns the name of the worker to which the directory dir belongs. It
// returns "" if the directory belongs to no worker that has joined a crawl.
func WorkerOf(dir string) string {
	f, err := openFolder(dir)
	if err != nil {
		return ""
	}
	defer f.root.Close()
	if id, err := f.readIdentity(); err == nil && id.Incarnation > 0 {
		return id.Worker
	}
	return "" // Open returns the error of a damaged file
}

// join opens the shared frontier as the worker of this directory. A new
// directory becomes the directory of a worker.
func (a *Archive) join(ctx context.Context) error {
	s := a.options.Shared
	if _, err := a.folder.root.Lstat(database); err == nil {
		if _, err := a.folder.readIdentity(); err == nil {
			return a.folder.interruptedCopy()
		}
		return fetch.Usage.Errorf("%s has a frontier of its own (%s): use another directory", a.folder.dir, database)
	}
	id, err := a.folder.readIdentity()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		id = identity{Worker: s.Worker, Folder: rand.Text()}
		err = a.folder.writeIdentity(id) // before the database stores the identifier
	case err == nil && id.Worker != s.Worker && id.Incarnation == 0: // the database refused the other name
		id.Worker = s.Worker
		err = a.folder.writeIdentity(id)
	case err == nil && id.Worker != s.Worker:
		err = fetch.Usage.Errorf("%s belongs to the worker %s, not to %s", a.folder.dir, id.Worker, s.Worker)
	}
	if err != nil {
		return err
	}
	w := frontier.Worker{Name: id.Worker, Folder: id.Folder, Place: a.folder.place(), Incarnation: id.Incarnation, Pause: s.Pause,
		Again: s.Again, Outage: s.Outage, Stores: s.Store != nil}
	f, err := s.Frontier.Join(ctx, &w)
	if err != nil {
		return err
	}
	a.frontier, a.ledger = f, f.Ledger()
	if w.Incarnation > 1 { // new names must differ from the names of lost files
		a.incarnation = fmt.Sprintf(".%d", w.Incarnation)
	}
	if w.Incarnation != id.Incarnation {
		id.Incarnation = w.Incarnation
		return a.folder.writeIdentity(id)
	}
	return nil
}

// place describes the machine and the path of the directory. Two processes with
// the same place cannot both hold the lock of the directory. After a reboot,
// the place differs, because the text after "#" identifies the boot.
func (f *folder) place() string {
	name, _ := os.Hostname()
	path, err := filepath.Abs(f.dir)
	if err != nil {
		path = f.dir
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // absent on some systems
	return fmt.Sprintf("%s:%s#%s", name, path, bytes.TrimSpace(boot))
}

// maxIdentity is the maximum size of workerFile in bytes.
const maxIdentity = 4 << 10

// readIdentity returns the content of workerFile. If the file is missing, the
// error wraps fs.ErrNotExist.
func (f *folder) readIdentity() (id identity, err error) {
	text, err := readStart(f.root, workerFile, maxIdentity)
	if errors.Is(err, fs.ErrNotExist) {
		return id, err
	}
	if err == nil {
		err = json.Unmarshal(text, &id)
	}
	if err != nil || id.Worker == "" || id.Folder == "" {
		return id, fetch.Local.Errorf("%s of %s is damaged", workerFile, f.dir)
	}
	return id, nil
}

// writeIdentity replaces workerFile. It is on stable storage when writeIdentity
// returns. If a power failure removed the file, the database would refuse the
// directory.
func (f *folder) writeIdentity(id identity) error {
	err := replaceFile(f.root, workerFile, func(w io.Writer) error { return json.NewEncoder(w).Encode(id) })
	if err == nil {
		err = syncFolders(f.root, ".")
	}
	return err
}

// checkLocal returns an error if the directory belongs to a worker of a shared
// crawl, or if its database is missing.
func (f *folder) checkLocal() error {
	if err := f.checkNotShared(); err != nil {
		return err
	}
	return f.checkDatabase()
}

// checkNotShared returns an error if the directory belongs to a worker of a shared
// crawl.
func (f *folder) checkNotShared() error {
	id, err := f.readIdentity()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	if _, err := f.root.Lstat(database); err == nil {
		return f.interruptedCopy()
	}
	return fetch.Usage.Errorf("%s belongs to the worker %s of a crawl with a shared frontier", f.dir, id.Worker)
}

// isRemote reports whether the WARC file with the given name is not in the
// directory. Such a file was written by another worker of a shared crawl, or is
// in the store.
func (a *Archive) isRemote(name string) bool {
	if a.options.Shared == nil || name == "" {
		return false
	}
	f, err := a.openWARC(name)
	if err == nil {
		f.Close()
	}
	return errors.Is(err, os.ErrNotExist)
}
