package archive

import (
	"context"
	"errors"
	"io/fs"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/sqlite"
	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/uri"
)

// addFiles adds the paths and digests of files in the tree to the captures. It
// computes the digests that the journal of an earlier version lacks. It also
// finds the files of objects that only WARC records describe.
func (r *rebuild) addFiles(ctx context.Context) error {
	if _, err := r.a.folder.root.Stat(tree.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	db := r.builder.Frontier()
	r.a.frontier = db
	defer func() { r.a.frontier = nil }()
	namer := tree.NewNamer(r.a.layout, r.o.Scheme, db.NameOwners)
	var batch rowBatch[frontier.Capture]
	err := r.a.eachRetrieved(ctx, func(it frontier.Item, _ frontier.State) error {
		c := *it.LastCapture
		if c.Path != "" && c.Digest != [32]byte{} || c.Path == "" && c.Code/100 == 3 {
			return nil
		}
		c.Key, c.URL = it.Key, it.URL
		if !batch.add(c, c.TextSize()) {
			return nil
		}
		defer batch.clear()
		return r.setFiles(ctx, namer, batch.rows)
	})
	if err != nil {
		return err
	}
	return r.setFiles(ctx, namer, batch.rows)
}

// setFiles finds the files of captures that have no path or no digest.
func (r *rebuild) setFiles(ctx context.Context, namer *tree.Namer, captures []frontier.Capture) error {
	assigned, err := assignAgain(ctx, namer, captures)
	if err != nil {
		return err
	}
	var found []sqlite.FoundFile
	for i, c := range captures {
		f := sqlite.FoundFile{Key: c.Key, Path: c.Path}
		if a := assigned[i]; a != nil {
			f.Path, f.Names = a.Path, a.Claims
		}
		if f.Path == "" {
			continue
		}
		if f.Size, f.Digest, err = hashFile(r.a.store, f.Path); err != nil {
			return err
		}
		if f.Size == c.Size && (c.Digest == [32]byte{} || c.Digest == f.Digest) {
			found = append(found, f)
			continue
		}
		switch recorded, err := r.a.hasOtherForm(ctx, &c, f.Size, f.Digest); {
		case err != nil:
			return err
		case recorded:
			found = append(found, f)
		}
	}
	if err := r.builder.SetFiles(ctx, found); err != nil {
		return err
	}
	for _, a := range assigned {
		if a != nil {
			namer.Dropped(*a) // the database contains the names that are in use
		}
	}
	return nil
}

// assignAgain returns the path that a run would assign to each capture without
// a path. The result contains nil for other captures.
func assignAgain(ctx context.Context, namer *tree.Namer, captures []frontier.Capture) ([]*tree.Assigned, error) {
	all := make([]*tree.Assigned, len(captures))
	var wants []tree.Want
	var at []int
	for i, c := range captures {
		if u, err := uri.Parse(c.URL); err == nil && c.Path == "" {
			wants = append(wants, tree.Want{Key: c.Key, URL: u, Menu: c.Kind == fetch.Menu.String()})
			at = append(at, i)
		}
	}
	if len(wants) == 0 {
		return all, nil
	}
	assigned, err := namer.Assign(ctx, wants)
	for i := range assigned {
		all[at[i]] = &assigned[i]
	}
	return all, err
}

// hashFile returns the size and the digest of a file in a tree. If the file
// cannot be opened, the size is -1.
func hashFile(t *tree.Store, path string) (size int64, digest [32]byte, err error) {
	f, err := t.Open(path)
	if err != nil {
		return -1, digest, nil
	}
	defer f.Close()
	return hashObject(f)
}
