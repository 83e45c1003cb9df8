package archive

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/sqlite"
	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/mirror/internal/upload"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// Options contains the settings of an Archive.
type Options struct {
	Tree    bool             // if true, store the objects as files
	WARC    *warc.Options    // options of the WARC files, or nil to write no WARC files
	Discard bool             // if true, the archive stores no objects, and Has returns false
	FileAge time.Duration    // age at which a WARC file is finished; zero means no limit
	Shared  *Shared          // frontier that workers share, or nil for a database in the directory
	Dedup   *warc.IndexFile  // index of another archive, whose records revisit records may refer to, or nil
	MinFree int64            // free bytes required on the disk; zero means no limit
	MaxLost float64          // maximum share of missing WARC records
	Recheck bool             // if true, Has verifies objects and records of any size
	Now     func() time.Time // clock; required

	// Scheme returns the scheme with a name. It is required if Tree is true.
	Scheme func(name string) fetch.Scheme
}

// An Archive is an archive that is open for reading or for a run. It is safe
// for concurrent use.
type Archive struct {
	folder   folder
	options  Options
	frontier frontier.Frontier
	store    *tree.Store
	namer    *tree.Namer
	layout   tree.Layout
	journal  *journal // journal, or nil if the archive is not open for a run
	records  *records // WARC files, or nil if none are written
	memory   Memory
	parts    sync.Map // set of labels of the partial bodies on disk

	mailWritten bool // whether Derive has written the mailboxes
	losses      []Loss
	renamed     []string // WARC files that had the name of another file
	verified    verifiedRecords
	verifiers   sync.Pool // of type *recordVerifier

	running context.Context // context of the run; nil if the archive is not open for a run

	commits sync.Mutex // serializes calls of Commit
	started time.Time

	ledger      frontier.Ledger  // WARC files of a shared crawl, or nil
	incarnation string           // text after the prefix in WARC file names, or ""
	uploads     *upload.Uploader // nil if the crawl has no store
}

// Frontier returns the database of the archive. The caller adds URLs to the
// database directly, but adds captures with Commit. Close closes the database.
func (a *Archive) Frontier() frontier.Frontier { return a.frontier }

// Memory returns the memory limit that all spools and batches share.
func (a *Archive) Memory() *Memory { return &a.memory }

// Log appends v to the journal as a line of JSON. The value v must be a struct
// that can be encoded as JSON. The next call of Commit, Seal or Close returns
// the error of a failed write.
func (a *Archive) Log(v any) { a.journal.write(journalLine(v)) }

// Stat returns the file information of the directory of the archive.
func (a *Archive) Stat() (fs.FileInfo, error) { return a.folder.root.Stat(".") }

// CheckSpace returns an error that wraps fetch.DiskFull if the disk has fewer
// free bytes than Options.MinFree. It returns nil on a system that does not
// report free space.
func (a *Archive) CheckSpace() error { return a.CheckFree(0) }

// CheckFree is like CheckSpace, but requires the given number of free bytes in
// addition to Options.MinFree.
func (a *Archive) CheckFree(more int64) error {
	min := max(a.options.MinFree, 0) + more
	if min <= 0 {
		return nil
	}
	free, err := a.store.Free()
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	case err != nil:
		return err
	case free < min && more > 0:
		return fetch.DiskFull.Errorf("the disk is full: it has %d bytes free, and visits continue when %d are free", free, min)
	case free < min:
		return fetch.DiskFull.Errorf("the disk has %d bytes free, but at least %d are required", free, min)
	}
	return nil
}

// Has reports whether the archive contains the object of c. If Options.Tree is
// set, the tree must contain it. If Options.WARC is set, a WARC record must
// contain it. Has reads this record to find damage.
func (a *Archive) Has(c *frontier.Capture) bool {
	return a.Lists(c) && (a.options.WARC == nil || a.hasRecord(c))
}

// Lists is like Has, but does not read the WARC record.
func (a *Archive) Lists(c *frontier.Capture) bool {
	if a.options.Discard {
		return false
	}
	if a.options.WARC != nil && (c.ID == "" || c.File == "") {
		return false
	}
	if !a.options.Tree || c.Path == "" && c.Code/100 == 3 {
		return true
	}
	return c.Path != "" && !a.LacksFile(c)
}

// LacksFile reports whether the file of c in the tree is missing or has the
// wrong size. With Options.Recheck, it also compares the digest. It returns
// false if c has no file in the tree.
func (a *Archive) LacksFile(c *frontier.Capture) bool {
	if !a.options.Tree || c.Path == "" {
		return false
	}
	info, err := a.store.Stat(c.Path)
	if err != nil || info.Size() != c.Size || !a.options.Recheck {
		return err != nil || info.Size() != c.Size
	}
	digest, err := digestFile(a.folder.root, tree.Dir+"/"+c.Path)
	return err != nil || digest != c.Digest
}

// Canonical returns the normalized text of u, which identifies u in an archive.
// It removes the fragment and the userinfo, because the userinfo is secret.
func Canonical(u uri.URI) string {
	return u.WithoutUserinfo().WithoutFragment().Normalize(uri.ByScheme).Unredacted()
}

// retrievedStates lists the states of URLs that may have a capture.
var retrievedStates = []frontier.State{
	frontier.Done, frontier.Kept, frontier.Pending, frontier.Dead, frontier.Excluded, frontier.Gone,
}

// eachRetrieved calls f with the item and the state of each URL that has a
// capture.
func (a *Archive) eachRetrieved(ctx context.Context, f func(frontier.Item, frontier.State) error) error {
	for _, s := range retrievedStates {
		for it, err := range a.frontier.Items(ctx, s) {
			if err == nil && it.LastCapture != nil {
				err = f(it, s)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *Archive) openFrontier(ctx context.Context) error {
	if a.options.Shared != nil {
		return a.join(ctx)
	}
	f, err := sqlite.Open(ctx, "sqlite:"+filepath.Join(a.folder.dir, database))
	if err == nil { // after an error, f may be an interface that contains a nil pointer
		a.frontier = f
	}
	return err
}

// View calls f with the database of the archive in the directory dir. The
// function f must not change the database. A run may change it at the same
// time.
func View(ctx context.Context, dir string, f func(frontier.Frontier) error) error {
	a, err := openExisting(ctx, dir, func(*Archive) error { return nil })
	if err != nil {
		return err
	}
	return errors.Join(Classify(f(a.frontier)), a.Close())
}

// Update calls f with the database of the archive in the directory dir. Other
// processes cannot change the archive until f returns. If the database has a
// digest of its rows, Update replaces it.
func Update(ctx context.Context, dir string, f func(frontier.Frontier) error) error {
	return withLock(ctx, dir, func(a *Archive) error {
		seal, err := a.frontier.ReadSeal(ctx)
		if err == nil && seal.Rows {
			err = a.frontier.Check(ctx)
		}
		if err == nil {
			err = f(a.frontier)
		}
		if err == nil && seal.Rows {
			err = a.frontier.Seal(ctx, func() ([]byte, error) { return seal.Manifest, nil })
		}
		return err
	})
}

// Alter calls f with the database of the archive in the directory dir, even
// during a run. The function f must change only states of URLs and settings of
// hosts, because a run reads them again before it uses them.
func Alter(ctx context.Context, dir string, f func(frontier.Frontier) error) error {
	err := Update(ctx, dir, f)
	if errors.Is(err, fetch.InUse) {
		return View(ctx, dir, f)
	}
	return err
}

// withLock opens and locks the archive in the directory dir and calls f.
func withLock(ctx context.Context, dir string, f func(*Archive) error) error {
	return withArchive(ctx, dir, tree.Options{}, f)
}

// withReadLock is like withLock, but f must not change the archive. An archive
// on a read-only medium is not locked.
func withReadLock(ctx context.Context, dir string, f func(*Archive) error) error {
	return withArchive(ctx, dir, tree.Options{ReadOnly: true}, f)
}

func withArchive(ctx context.Context, dir string, o tree.Options, f func(*Archive) error) error {
	a, err := openExisting(ctx, dir, func(a *Archive) error {
		err := a.folder.acquireLock()
		if o.ReadOnly && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	a.store, err = tree.Open(dir, o)
	if err == nil {
		err = f(a)
	}
	return errors.Join(Classify(err), a.Close())
}

// openExisting opens the database of an existing archive. It calls lock before
// it opens the database, so that the check of the database does not delay the
// error of a locked archive.
func openExisting(ctx context.Context, dir string, lock func(*Archive) error) (*Archive, error) {
	a := &Archive{}
	var err error
	if a.folder, err = openFolder(dir); err == nil {
		if err = a.folder.checkLocal(); err == nil {
			_, err = a.folder.root.Lstat(database)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = fetch.Local.Errorf("%s is not an archive: it has no %s", dir, database)
		}
	}
	if err == nil {
		err = lock(a)
	}
	if err == nil {
		err = a.openFrontier(ctx)
	}
	if err != nil {
		return nil, errors.Join(Classify(err), a.Close())
	}
	return a, nil
}

// Close finishes the current WARC file, closes the archive and releases its
// lock.
func (a *Archive) Close() (err error) {
	if a.records != nil {
		err = a.records.close()
	}
	if a.journal != nil {
		err = errors.Join(err, a.journal.close())
	}
	if a.store != nil {
		err = errors.Join(err, a.store.Close())
		if a.folder.locked {
			a.folder.root.Remove(tree.Tmp) // fails if the directory contains files for the next run
		}
	}
	if a.frontier != nil {
		err = errors.Join(err, a.frontier.Close())
	}
	return Classify(errors.Join(err, a.folder.close()))
}
