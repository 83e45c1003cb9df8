package archive

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
)

// Derive writes the index of the WARC files. If mail is not nil, it also writes
// the mailboxes. It reads the database and the WARC files, and replaces each
// file only when the new file is complete.
func (a *Archive) Derive(ctx context.Context, mail *Mail) error {
	ctx = context.WithoutCancel(ctx) // a canceled run also needs a correct index
	var err error
	if a.records != nil {
		err = a.records.finish(a.folder.dir)
	}
	if mail != nil {
		err = errors.Join(err, a.mailboxes(ctx, mail))
	}
	return Classify(err)
}

// Seal writes the manifest and stores its digest and a digest of all rows in the
// database. It must be called after the last change of the archive in a run.
// Verify then finds any change of the database and of the files. Cancellation of
// ctx interrupts Seal only in a shared crawl, whose database may be unavailable.
func (a *Archive) Seal(ctx context.Context) error {
	if a.options.Shared == nil {
		ctx = context.WithoutCancel(ctx)
	}
	err := a.confirmLog(ctx)
	if err == nil || a.options.Shared != nil { // without its database, a shared crawl can write the manifest
		sealed := a.seal(ctx, func(name string) bool {
			if strings.HasPrefix(name, mailFolder+"/") {
				return !a.mailWritten && name != mailMarker
			}
			return isImmutable(name) && (a.records == nil || !a.records.changed[path.Base(name)])
		})
		err = JoinDistinct(err, sealed)
	}
	return Classify(err)
}

// seal writes the manifest and stores the digests in the database. It passes
// the parameter keep to writeManifest.
func (a *Archive) seal(ctx context.Context, keep func(name string) bool) error {
	manifest := func() ([]byte, error) { return a.writeManifest(ctx, keep) }
	if a.options.Shared != nil {
		_, err := manifest()
		return err
	}
	return a.frontier.Seal(ctx, manifest)
}

// Reindex rewrites the index and the manifest of the archive in the directory
// dir. It replaces each file only when the new file is complete. It removes
// indexes of WARC files that no longer exist. If the database is damaged,
// Reindex changes nothing.
func Reindex(ctx context.Context, dir string) error {
	return withLock(ctx, dir, func(a *Archive) error {
		if err := a.frontier.Check(ctx); err != nil {
			return err
		}
		seal, err := a.frontier.ReadSeal(ctx)
		if err == nil { // the manifest does not match the new index until the end
			err = a.frontier.Unseal(ctx)
		}
		if err != nil {
			return err
		}
		parts, err := reindex(a.folder.root, dir, true)
		if err != nil {
			return err
		}
		old, err := filesIn(a.folder.root, indexFolder, "*.cdxj")
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
		return a.seal(ctx, func(name string) bool { // if a run was killed, it may have changed other files
			return !isDerived(name) && (seal.Rows || isImmutable(name))
		})
	})
}
