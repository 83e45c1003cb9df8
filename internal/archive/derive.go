package archive

import (
	"context"
	"errors"
	"io"
	"slices"
)

// Derive writes the index, the manifest and, unless mail is nil, the mailboxes
// from the database and the WARC files. It replaces each file when the new
// version is complete.
func (a *Archive) Derive(ctx context.Context, mail *Mail) error {
	ctx = context.WithoutCancel(ctx) // a canceled run also gets a correct index
	var err error
	if a.records != nil {
		err = a.records.finish(a.folder.dir)
	}
	if a.options.Tree {
		err = errors.Join(err, replaceFile(a.folder.root, manifest, func(w io.Writer) error { return a.manifest(ctx, w) }))
	}
	if mail != nil {
		err = errors.Join(err, a.mailboxes(ctx, mail))
	}
	return Classify(err)
}

// Reindex writes the index of the archive at dir from the WARC files. It
// replaces each file when the new version is complete, so that a kill leaves
// the old index. Indexes of WARC files that no longer exist are removed.
func Reindex(ctx context.Context, dir string) error {
	return withLock(ctx, dir, func(a *Archive) error {
		parts, err := reindex(a.folder.root, dir, true)
		if err != nil {
			return err
		}
		old, err := filesIn(a.folder.root, "index", "*.cdxj")
		if err != nil {
			return err
		}
		for _, name := range old {
			if name == indexFile || slices.Contains(parts, name) {
				continue
			}
			if err := a.folder.root.Remove(name); err != nil {
				return err
			}
		}
		return nil
	})
}
