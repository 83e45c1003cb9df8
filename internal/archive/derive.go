package archive

import (
	"context"
	"errors"
	"io"
)

// Derive writes what follows from the database and the WARC files: the index,
// the manifest and, unless mail is nil, the mailboxes. Each file is replaced
// when the new one is complete.
func (a *Archive) Derive(ctx context.Context, mail *Mail) error {
	ctx = context.WithoutCancel(ctx) // a run that was stopped leaves a true index too
	var err error
	if a.records != nil {
		err = a.records.finish(a.folder.dir)
	}
	if a.options.Tree {
		err = errors.Join(err, replace(a.folder.root, manifest, func(w io.Writer) error { return a.manifest(ctx, w) }))
	}
	if mail != nil {
		err = errors.Join(err, a.mailboxes(ctx, mail))
	}
	return Fault(err)
}

// Reindex writes the index of the archive at dir anew, from its WARC files
// alone.
func Reindex(ctx context.Context, dir string) error {
	return exclusive(ctx, dir, func(a *Archive) error {
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
