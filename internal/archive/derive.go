package archive

import (
	"context"
	"errors"
	"io"
	"slices"
)

// Derive writes the index and the manifest. Unless mail is nil, it also writes
// the mailboxes. It reads the database and the WARC files, and replaces each
// file only when the new file is complete.
func (a *Archive) Derive(ctx context.Context, mail *Mail) error {
	ctx = context.WithoutCancel(ctx) // a canceled run also needs a correct index
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

// Reindex rewrites the index of the archive in the directory dir from its WARC
// files. It replaces each file only when the new file is complete. It removes
// indexes of WARC files that no longer exist.
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
