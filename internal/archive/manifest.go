package archive

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/internal/tree"
)

// manifest writes the digests of the objects in the database, in the format of
// sha256sum.
func (a *Archive) manifest(ctx context.Context, w io.Writer) error {
	for f, err := range a.frontier.Files(ctx) {
		if err == nil && f.State == frontier.Gone {
			if _, lost := a.store.Stat(f.Path); lost != nil {
				continue // the file is in the attic
			}
		}
		if err == nil {
			_, err = w.Write(appendDigest(nil, f.Digest, tree.Dir+"/"+f.Path))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Manifest computes the digests of the files in the tree and of the WARC files.
// It writes them in the format of sha256sum. It does not read the database.
func Manifest(w io.Writer, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Classify(err)
	}
	defer root.Close()
	fsys := root.FS()
	var walkErr error
	names := func(yield func(string) bool) {
		for _, folder := range []string{tree.Dir, warcFolder} {
			err := fs.WalkDir(fsys, folder, func(name string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() && !yield(name) {
					return fs.SkipAll
				}
				return err
			})
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				walkErr = err
			}
		}
	}
	err = writeDigests(w, fsys, names)
	return Classify(errors.Join(err, walkErr))
}
