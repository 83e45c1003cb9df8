package archive

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/warc"
)

// Open opens the archive in the directory dir for a run. If the directory is
// missing, Open creates it. Open completes the last commit, discards
// uncommitted data and returns the truncations of WARC files. If another
// process uses the archive, the error wraps fetch.InUse.
func Open(ctx context.Context, dir string, o Options) (*Archive, []Truncation, error) {
	a := &Archive{options: o, started: o.Now(), running: ctx}
	err := regularfile.MakeFolder(dir)
	if err == nil {
		a.folder, err = openFolder(dir)
	}
	if err == nil {
		err = a.folder.acquireLock()
	}
	var truncations []Truncation
	if err == nil {
		truncations, err = a.restore(ctx)
	}
	if err != nil {
		return nil, nil, errors.Join(Classify(err), a.Close())
	}
	return a, truncations, nil
}

// restore completes the last commit, discards uncommitted data, and opens the
// files of the archive for a run.
func (a *Archive) restore(ctx context.Context) ([]Truncation, error) {
	if _, err := a.folder.root.Stat(tree.Dir); err == nil && !a.options.Tree {
		return nil, fetch.Usage.Errorf(
			"%s contains a tree, which a run without a tree would not update: use another folder", a.folder.dir)
	}
	for _, step := range []func(context.Context) error{
		a.openDatabase, a.settleWARC, a.restoreTree, a.restoreJournal,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return a.openRecords(ctx)
}

// openDatabase opens the database. It creates the database of a new archive.
func (a *Archive) openDatabase(ctx context.Context) error {
	if a.options.Shared == nil {
		if err := a.folder.checkLocal(); err != nil {
			return err
		}
		if err := a.folder.removeUnfinished(); err != nil {
			return err
		}
	}
	return a.openFrontier(ctx)
}

// settleWARC compares the WARC files with the database, and marks lost records.
// It checks the database of a local archive before the first change. It also
// ends the leases of earlier runs.
func (a *Archive) settleWARC(ctx context.Context) (err error) {
	if a.options.Shared != nil {
		err = a.settleFiles(ctx)
	} else if err = a.frontier.Check(ctx); err == nil {
		if err = a.restoreNames(ctx); err == nil {
			lost, failed := a.shortFiles(ctx)
			err = a.settleLosses(ctx, lost, failed)
		}
	}
	if err != nil {
		return err
	}
	return a.frontier.Evict(ctx)
}

// restoreTree moves the files of the last commit to the tree, and removes files
// that no run needs.
func (a *Archive) restoreTree(ctx context.Context) (err error) {
	if a.store, err = tree.Open(a.folder.dir, tree.Options{}); err != nil {
		return err
	}
	if err := a.publishCommitted(ctx); err != nil {
		return err
	}
	if err := errors.Join(a.store.Clean(), a.findParts(), a.moveRetired(ctx)); err != nil {
		return err
	}
	err = a.openLayout(ctx)
	a.namer = tree.NewNamer(a.layout, a.options.Scheme, a.frontier.NameOwners)
	return err
}

// restoreJournal opens the journal and appends the lines that it lacks.
func (a *Archive) restoreJournal(ctx context.Context) (err error) {
	if a.journal, err = openJournal(a.folder.root); err != nil {
		return err
	}
	return a.restoreLog(ctx)
}

// openRecords opens the WARC files for appending and removes uncommitted records
// from their ends. In a shared crawl with a store, it also schedules uploads.
func (a *Archive) openRecords(ctx context.Context) (truncations []Truncation, err error) {
	committed, err := a.frontier.FileEnds(ctx)
	if err != nil || a.options.WARC == nil && len(committed) == 0 {
		return nil, err
	}
	o := warc.Options{} // an earlier run may have left a file unfinished
	if a.options.WARC != nil {
		o = *a.options.WARC
	}
	if a.options.Shared != nil {
		if o.Serial, err = a.firstSerial(ctx); err != nil {
			return nil, err
		}
		o.Prefix += a.incarnation
	}
	a.records, truncations, err = openRecords(a.folder.root, o, fileAge{limit: a.options.FileAge, now: a.options.Now}, committed)
	if err == nil && a.options.Shared != nil && a.options.Shared.Store != nil {
		err = a.openUploads(ctx)
	}
	return truncations, err
}

// openLayout reads the version of the rules for file names from the database.
// It returns an error for a version that this program does not support.
func (a *Archive) openLayout(ctx context.Context) error {
	n, err := a.frontier.Layout(ctx)
	if a.layout = tree.Layout(n); err == nil && (a.layout < tree.FirstLayout || a.layout > tree.NewLayout) {
		err = fetch.Local.Errorf(
			"the tree has layout %d, but this version of fetch supports layouts up to %d", n, tree.NewLayout)
	}
	return err
}

// publishCommitted moves the files of the last commit to their paths in the
// tree. It removes uncommitted files.
func (a *Archive) publishCommitted(ctx context.Context) error {
	for f, err := range a.store.Unpublished() {
		if err != nil {
			return err
		}
		c, err := a.committedCapture(ctx, f)
		switch {
		case err != nil:
			f.Close()
		case c != nil:
			err = f.Publish(c.Path, c.Modified)
		default:
			err = f.Discard()
		}
		if err != nil {
			return err
		}
	}
	return a.store.SyncFolders()
}

// committedCapture returns the capture of the object in f. It returns nil if
// the newest capture of the URL is a different object.
func (a *Archive) committedCapture(ctx context.Context, f *tree.File) (*frontier.Capture, error) {
	var key frontier.Key
	if b, err := hex.DecodeString(f.Label()); copy(key[:], b) != len(key) || err != nil {
		return nil, nil
	}
	found, err := a.frontier.NewestCaptures(ctx, []frontier.Key{key})
	c, ok := found[key]
	if !ok || c.Path == "" || c.Size != f.Size() || err != nil {
		return nil, err
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if _, digest, err := hashObject(r); digest != c.Digest || err != nil {
		return nil, err
	}
	return &c, nil
}
