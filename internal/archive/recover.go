package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/internal/tree"
	"github.com/anyurl/fetch/warc"
)

// Open opens the archive at dir for a run, and makes the folder if there is
// none. It brings the files back to what the database says, and returns what it
// cut off the WARC files. An archive that another process works on is
// fetch.InUse.
func Open(ctx context.Context, dir string, o Options) (*Archive, []Cut, error) {
	a := &Archive{options: o, proofs: proofs{}, started: o.Now()}
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		a.folder, err = openFolder(dir)
	}
	if err == nil {
		err = a.folder.hold()
	}
	var cuts []Cut
	if err == nil {
		cuts, err = a.restore(ctx)
	}
	if err != nil {
		return nil, nil, errors.Join(Fault(err), a.Close())
	}
	return a, cuts, nil
}

func (a *Archive) restore(ctx context.Context) (cuts []Cut, err error) {
	if _, err := a.folder.root.Stat(tree.Dir); err == nil && !a.options.Tree {
		return nil, fetch.Usage.Errorf("%s has a tree, which a run without one would leave behind: it wants another folder", a.folder.dir)
	}
	if err := a.openFrontier(ctx); err != nil {
		return nil, err
	}
	if err := a.frontier.Evict(ctx); err != nil {
		return nil, err
	}
	if a.store, err = tree.Open(a.folder.dir, tree.Options{}); err != nil {
		return nil, err
	}
	if err := a.nameLeft(ctx); err != nil {
		return nil, err
	}
	if err := errors.Join(a.store.Clean(), a.findParts()); err != nil {
		return nil, err
	}
	if err := a.openLayout(ctx); err != nil {
		return nil, err
	}
	a.namer = tree.NewNamer(a.layout, a.frontier.NameOwners)
	if a.journal, err = openJournal(a.folder.root); err != nil {
		return nil, err
	}
	safe, err := a.frontier.FileEnds(ctx)
	if err != nil || a.options.WARC == nil && len(safe) == 0 {
		return nil, err
	}
	o := warc.Options{} // where no records are wanted, an earlier run may have left a file open
	if a.options.WARC != nil {
		o = *a.options.WARC
	}
	a.records, cuts, err = openRecords(a.folder.root, o, safe)
	return cuts, err
}

// openLayout reads the layout of the tree. A later one is an error, because
// this version cannot tell the paths of its files.
func (a *Archive) openLayout(ctx context.Context) error {
	n, err := a.frontier.Layout(ctx)
	if a.layout = tree.Layout(n); err == nil && (a.layout < tree.FirstLayout || a.layout > tree.NewLayout) {
		err = fetch.Local.Errorf("the tree has layout %d: a newer fetch wrote it; this one knows %d", n, tree.NewLayout)
	}
	return err
}

// nameLeft gives their names to the files that an earlier process had committed
// when it was killed. Whatever else it left is of no use.
func (a *Archive) nameLeft(ctx context.Context) error {
	some := false
	for f, err := range a.store.Left() {
		if err != nil {
			return err
		}
		c, err := a.committed(ctx, f)
		switch {
		case err != nil:
			f.Close()
		case c != nil:
			some = true
			err = f.Commit(c.Path, c.Modified)
		default:
			err = f.Discard()
		}
		if err != nil {
			return err
		}
	}
	if !some {
		return nil
	}
	return a.store.SyncFolders()
}

// committed returns the capture whose file f is, if the database says that it
// is the newest of its URL.
func (a *Archive) committed(ctx context.Context, f *tree.File) (*frontier.Capture, error) {
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
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil || [sha256.Size]byte(sum.Sum(nil)) != c.Digest {
		return nil, err
	}
	return &c, nil
}
