package archive

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/internal/tree"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// Options say what a run writes into an archive.
type Options struct {
	Tree    bool             // keep the objects as files
	WARC    *warc.Options    // write records; nil: none
	MinFree int64            // bytes that the disk must keep free; 0: any number
	Now     func() time.Time // required
}

// An Archive is the open folder. It is safe for concurrent use.
type Archive struct {
	folder   folder
	options  Options
	frontier frontier.Frontier
	store    *tree.Store
	namer    *tree.Namer
	layout   tree.Layout
	journal  *journal // nil, as records: the archive is not open for a run
	records  *records // nil: none are written
	memory   Memory
	parts    sync.Map // of bodies that were cut short, by their names

	commits sync.Mutex // one batch at a time
	proofs  proofs     // of the batches
	started time.Time
}

// Frontier returns the database of the archive, which is closed with it. It
// tells what is still to visit. What was retrieved gets there by Commit.
func (a *Archive) Frontier() frontier.Frontier { return a.frontier }

// Memory returns what spools and batches may take of the memory.
func (a *Archive) Memory() *Memory { return &a.memory }

// Log appends v, a struct of plain fields, as a line to the journal. Commit
// and Close write it to the file.
func (a *Archive) Log(v any) { a.journal.add(v) }

// Stat describes the folder of the archive.
func (a *Archive) Stat() (fs.FileInfo, error) { return a.folder.root.Stat(".") }

// Space returns an error if the disk has less room than it must keep.
func (a *Archive) Space() error {
	if a.options.MinFree <= 0 {
		return nil
	}
	free, err := a.store.Free()
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	case err != nil:
		return err
	case free < a.options.MinFree:
		return fetch.DiskFull.Errorf("less than %d bytes are left on the disk", a.options.MinFree)
	}
	return nil
}

// Has reports whether the archive holds c in every form that is wanted.
func (a *Archive) Has(c *frontier.Capture) bool {
	if a.options.WARC != nil && c.ID == "" {
		return false
	}
	if !a.options.Tree || c.Path == "" && c.Code/100 == 3 {
		return true
	}
	return c.Path != "" && !a.LacksFile(c)
}

// LacksFile reports whether the file of c in the tree is missing or has
// another size.
func (a *Archive) LacksFile(c *frontier.Capture) bool {
	if !a.options.Tree || c.Path == "" {
		return false
	}
	info, err := a.store.Stat(c.Path)
	return err != nil || info.Size() != c.Size
}

// Canonical returns the form of u by which an archive knows it: normalised,
// without a fragment, and without userinfo, which is a secret.
func Canonical(u uri.URI) string {
	return u.WithoutUserinfo().WithoutFragment().Normalize(uri.ByScheme).Unredacted()
}

// states are all in which a URL can have been retrieved once.
var states = []frontier.State{frontier.Done, frontier.Kept, frontier.Pending, frontier.Dead, frontier.Excluded, frontier.Gone}

// retrieved calls f for the newest capture of each URL.
func (a *Archive) retrieved(ctx context.Context, f func(frontier.Item, frontier.State) error) error {
	for _, s := range states {
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
	f, err := frontier.Open(ctx, "sqlite:"+filepath.Join(a.folder.dir, database))
	if err == nil { // else f may be a nil that is not nil
		a.frontier = f
	}
	return err
}

// Read calls f with the database of the archive at dir. A run may work on it
// at the same time.
func Read(ctx context.Context, dir string, f func(frontier.Frontier) error) error {
	a, err := existing(ctx, dir)
	if err != nil {
		return err
	}
	return errors.Join(Fault(f(a.frontier)), a.Close())
}

// Change calls f with the database of the archive at dir while no other
// process changes the archive.
func Change(ctx context.Context, dir string, f func(frontier.Frontier) error) error {
	return exclusive(ctx, dir, func(a *Archive) error { return f(a.frontier) })
}

// exclusive opens the archive at dir for f while no other process changes it.
func exclusive(ctx context.Context, dir string, f func(*Archive) error) error {
	a, err := existing(ctx, dir)
	if err != nil {
		return err
	}
	if err = a.folder.hold(); err == nil {
		a.store, err = tree.Open(dir, tree.Options{})
	}
	if err == nil {
		err = f(a)
	}
	return errors.Join(Fault(err), a.Close())
}

// existing opens the database of the archive at dir, to be read beside a run.
func existing(ctx context.Context, dir string) (*Archive, error) {
	a := &Archive{}
	var err error
	if a.folder, err = openFolder(dir); err == nil {
		if _, err = a.folder.root.Stat(database); errors.Is(err, fs.ErrNotExist) {
			err = fetch.Local.Errorf("%s is no archive: it has no %s", dir, database)
		}
	}
	if err == nil {
		err = a.openFrontier(ctx)
	}
	if err != nil {
		return nil, errors.Join(Fault(err), a.Close())
	}
	return a, nil
}

// Close finishes the WARC file that is being written and closes the archive.
func (a *Archive) Close() (err error) {
	if a.records != nil {
		err = a.records.close()
	}
	if a.journal != nil {
		err = errors.Join(err, a.journal.close())
	}
	if a.store != nil {
		err = errors.Join(err, a.store.Close())
		if a.folder.alone {
			a.folder.root.Remove(tree.Tmp) // fails where something is left for the next run
		}
	}
	if a.frontier != nil {
		err = errors.Join(err, a.frontier.Close())
	}
	return Fault(errors.Join(err, a.folder.close()))
}
