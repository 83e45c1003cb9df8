package archive

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/sqlite"
	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/warc"
)

// CopyOptions contains the settings of CopyFrontier. All fields are required.
type CopyOptions struct {
	Frontier frontier.Database                                  // database of the shared frontier
	Worker   string                                             // name of the worker that owns the directory afterwards
	Pause    time.Duration                                      // minimum time between the copy and the next request to a host
	Note     func(newest frontier.Stats) (note []byte, _ error) // returns the new note of the newest run
	Now      func() time.Time
}

// Copied contains the results of CopyFrontier.
type Copied struct {
	frontier.Stats
	Files   int    // WARC files
	Renamed string // new name of the database of the directory
}

// describe sets the fields of c that describe the copied database.
func (c *Copied) describe(ctx context.Context, f frontier.Frontier) (err error) {
	ends, err := f.FileEnds(ctx)
	if c.Files = len(ends); err == nil {
		c.Stats, err = f.Stats(ctx)
	}
	return err
}

// CopyFrontier copies the database of the archive in the directory dir to a
// PostgreSQL schema that contains no crawl yet. The directory becomes the
// directory of a worker of this crawl, and its database is renamed. The archive
// must have no tree. CopyFrontier first completes the last commit of a killed
// run.
//
// These steps make the copy atomic. The directory gets the identity of the
// worker. One transaction of PostgreSQL contains the complete crawl and this
// identity. Then the database of the directory is renamed. If CopyFrontier is
// interrupted, the directory has both an identity and a database. Another call
// then finds out whether the transaction was committed.
func CopyFrontier(ctx context.Context, dir string, o CopyOptions) (result Copied, err error) {
	if done, err := finishCopy(ctx, dir, o, &result); done || err != nil {
		return result, Classify(err)
	}
	if err := checkCopy(dir); err != nil {
		return result, err
	}
	a, _, err := Open(ctx, dir, Options{WARC: &warc.Options{Now: o.Now}, Now: o.Now})
	if err != nil {
		return result, err
	}
	err = a.copyFrontier(ctx, o, &result)
	return result, errors.Join(Classify(err), a.Close())
}

// checkCopy returns an error if the archive in the directory dir cannot become
// the directory of a worker.
func checkCopy(dir string) error {
	f, err := openFolder(dir)
	if err != nil {
		return Classify(err)
	}
	defer f.close()
	if err := f.checkLocal(); err != nil {
		return err
	}
	if _, err := f.root.Lstat(database); err != nil {
		return fetch.Local.Errorf("%s is not an archive: it has no %s", dir, database)
	}
	if _, err := f.root.Lstat(tree.Dir); err == nil {
		return fetch.Usage.Errorf("%s contains a tree, which a shared crawl cannot update: move %s/ to another directory first",
			dir, tree.Dir)
	}
	return nil
}

// copyFrontier copies the database of an open archive to PostgreSQL.
func (a *Archive) copyFrontier(ctx context.Context, o CopyOptions, result *Copied) (err error) {
	if err := result.describe(ctx, a.frontier); err != nil {
		return err
	}
	if result.Run == 0 {
		return fetch.Usage.Errorf("%s has no crawl", a.folder.dir)
	}
	note, err := o.Note(result.Stats)
	if err != nil {
		return err
	}
	tables, err := sqlite.Export(ctx, a.frontier)
	if err != nil {
		return err
	}
	target, err := o.Frontier.Join(ctx, &frontier.Worker{}) // a wrong login must not change the directory
	if err != nil {
		return err
	}
	defer target.Close()
	id := identity{Worker: o.Worker, Folder: rand.Text()}
	if err := a.folder.writeIdentity(id); err != nil {
		return err
	}
	syncNames(a.folder.root)
	w := frontier.Worker{Name: id.Worker, Folder: id.Folder, Pause: o.Pause}
	if err := target.Import(ctx, &w, note, tables); err != nil {
		return a.cancelCopy(o, &w, err)
	}
	result.Renamed, err = a.folder.becomeWorker(&w, a.closeFrontier)
	return err
}

// cancelCopy removes the identity of the directory after a failed copy. If the
// transaction was committed after all, it completes the copy. If the result of
// the transaction is unknown, it keeps the identity.
func (a *Archive) cancelCopy(o CopyOptions, w *frontier.Worker, failure error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	switch committed, err := o.Frontier.Registered(ctx, w); {
	case err != nil && !errors.Is(failure, frontier.ErrOccupied):
		return errors.Join(failure, a.folder.interruptedCopy())
	case committed:
		_, err := a.folder.becomeWorker(w, a.closeFrontier)
		return err
	}
	if errors.Is(failure, frontier.ErrOccupied) {
		failure = fetch.Usage.With(failure)
	}
	return errors.Join(failure, a.folder.root.Remove(workerFile))
}

func (a *Archive) closeFrontier() error {
	err := a.frontier.Close()
	a.frontier = nil
	return err
}

// becomeWorker closes the database, stores the identity of the worker with its
// incarnation, and renames the database.
func (f *folder) becomeWorker(w *frontier.Worker, closeDatabase func() error) (renamed string, err error) {
	if err := closeDatabase(); err != nil {
		return "", err
	}
	if err := f.writeIdentity(identity{Worker: w.Name, Folder: w.Folder, Incarnation: w.Incarnation}); err != nil {
		return "", err
	}
	return setAside(f.root, "copied")
}

// finishCopy completes a copy that was interrupted. It returns false if there
// was no copy, or if its transaction was not committed.
func finishCopy(ctx context.Context, dir string, o CopyOptions, result *Copied) (done bool, err error) {
	f, err := openFolder(dir)
	if err != nil {
		return false, err
	}
	defer f.close()
	id, err := f.readIdentity()
	if err == nil {
		_, err = f.root.Lstat(database)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = f.acquireLock()
	}
	if err != nil {
		return false, err
	}
	w := frontier.Worker{Name: id.Worker, Folder: id.Folder}
	committed, err := o.Frontier.Registered(ctx, &w)
	if err != nil {
		return false, err
	}
	if !committed {
		return false, f.root.Remove(workerFile)
	}
	db, err := sqlite.Open(ctx, "sqlite:"+filepath.Join(dir, database))
	if err != nil {
		return false, err
	}
	if err := result.describe(ctx, db); err != nil {
		return false, errors.Join(err, db.Close())
	}
	result.Renamed, err = f.becomeWorker(&w, db.Close)
	return true, err
}

// interruptedCopy returns the error for a directory that contains both a
// database and the identity of a worker.
func (f *folder) interruptedCopy() error {
	return fetch.Usage.Errorf("the copy of the frontier of %s to PostgreSQL was interrupted: run it again", f.dir)
}
