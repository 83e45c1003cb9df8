package mirror

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/internal/tree"
	"github.com/anyurl/fetch/warc"
)

// derive writes what follows from the database and the WARC files: each file is
// replaced when the new one is whole.
func (m *mirror) derive(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx) // a run that was stopped leaves a true index too
	var err error
	if m.warc != nil {
		if err = m.warc.Close(); err == nil {
			err = m.closeIndex()
		}
		if err == nil {
			err = reindex(m.root, m.Dir)
		}
	}
	if m.Tree {
		err = errors.Join(err, whole(m.root, manifest, func(w io.Writer) error { return m.manifest(ctx, w) }))
	}
	if m.Mail != NoMailboxes {
		err = errors.Join(err, m.mailboxes(ctx))
	}
	return fault(err)
}

// whole replaces a file of the archive by what write makes of it.
func whole(root *os.Root, name string, write func(w io.Writer) error) (err error) {
	if err := root.MkdirAll(filepath.ToSlash(filepath.Dir(name)), 0o777); err != nil {
		return err
	}
	part := name + ".part"
	f, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 64<<10)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, root.Remove(part))
	}
	return root.Rename(part, name)
}

// Reindex writes the index of the archive at dir anew, from its WARC files
// alone.
func Reindex(ctx context.Context, dir string) error {
	return exclusive(ctx, dir, func(a *archive) error {
		old, err := fs.Glob(a.root.FS(), "index/*.cdxj")
		if err != nil {
			return err
		}
		for _, name := range old {
			if err := a.root.Remove(name); err != nil {
				return err
			}
		}
		return reindex(a.root, dir)
	})
}

// states are all in which a URL can have been brought once.
var states = []frontier.State{frontier.Done, frontier.Kept, frontier.Pending, frontier.Dead, frontier.Excluded, frontier.Gone}

// brought calls f for the newest capture of each URL.
func (a *archive) brought(ctx context.Context, f func(frontier.Item, frontier.State) error) error {
	for _, s := range states {
		for it, err := range a.front.Items(ctx, s) {
			if err == nil && it.Last != nil {
				err = f(it, s)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// manifest writes the digests of the tree as sha256sum reads them.
func (a *archive) manifest(ctx context.Context, w io.Writer) error {
	for f, err := range a.front.Files(ctx) {
		if err == nil && f.State == frontier.Gone {
			if _, lost := a.store.Stat(f.Path); lost != nil {
				continue // it is in the attic
			}
		}
		if err == nil {
			_, err = w.Write(warc.AppendManifest(nil, f.Digest, tree.Dir+"/"+f.Path))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Manifest writes the digests of the tree and of the WARC files of the archive
// at dir, as they lie there, for sha256sum -c.
func Manifest(w io.Writer, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fault(err)
	}
	defer root.Close()
	fsys := root.FS()
	var walked error
	names := func(yield func(string) bool) {
		for _, folder := range []string{tree.Dir, warcs} {
			err := fs.WalkDir(fsys, folder, func(name string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() && !yield(name) {
					return fs.SkipAll
				}
				return err
			})
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				walked = err
			}
		}
	}
	err = warc.Manifest(w, fsys, names)
	return fault(errors.Join(err, walked))
}

// sweep moves what the server has no more to the attic.
func (m *mirror) sweep(ctx context.Context) error {
	if !m.Delete || !m.Tree {
		return nil
	}
	var gone []string
	total, lost := 0, 0
	err := m.brought(ctx, func(it frontier.Item, s frontier.State) error {
		switch {
		case (s == frontier.Dead || s == frontier.Pending) && it.Last.Kind == fetch.Menu.String():
			lost++
		case it.Last.Path == "":
		case s == frontier.Gone:
			if _, err := m.store.Stat(it.Last.Path); err == nil {
				gone = append(gone, it.Last.Path)
				total++
			}
		default:
			total++
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case len(gone) == 0:
		return nil
	case lost > 0:
		return fetch.Denied.Errorf("nothing is deleted: %d listings could not be read", lost)
	case float64(len(gone)) > m.MaxDelete*float64(total):
		return fetch.Denied.Errorf("nothing is deleted: %d of %d files are gone, more than a share of %g", len(gone), total, m.MaxDelete)
	}
	run := "run-" + m.started.UTC().Format("20060102T150405Z")
	for _, path := range gone {
		if err := m.store.Attic(path, run); err != nil {
			return err
		}
		m.total.Attic++
	}
	return m.store.SyncFolders()
}
