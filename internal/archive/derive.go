package archive

import (
	"context"
	"errors"
	"io"
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

// Reindex removes the index of the archive at dir and writes it from the WARC
// files.
func Reindex(ctx context.Context, dir string) error {
	return withLock(ctx, dir, func(a *Archive) error {
		old, err := filesIn(a.folder.root, "index", "*.cdxj")
		if err != nil {
			return err
		}
		for _, name := range old {
			if err := a.folder.root.Remove(name); err != nil {
				return err
			}
		}
		return reindex(a.folder.root, dir)
	})
}
