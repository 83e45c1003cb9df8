package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/internal/regularfile"
	"github.com/anyurl/fetch/internal/tree"
	"github.com/anyurl/fetch/warc"
)

// Verify checks all files of the archive in the directory dir. It verifies the
// files in the tree against the database, and verifies the digests of all WARC
// records. It compares the index and the manifest with newly generated files.
// It also finds files that are not in the database.
//
// Verify calls report for each problem. For an unusual but harmless property,
// note is true. Verify stops when report returns false. If URLs are still
// pending, Verify returns ErrIncomplete after all checks.
func Verify(ctx context.Context, dir string, report func(path, text string, note bool) bool) error {
	err := withLock(ctx, dir, func(a *Archive) error {
		v := &verifier{
			a: a, report: report, seed: maphash.MakeSeed(), paths: map[uint64]struct{}{}, unpublished: map[string]bool{},
		}
		return v.checkAll(ctx)
	})
	switch {
	case errors.Is(err, errStop):
		return nil
	case errors.Is(err, frontier.ErrDamaged):
		report(database, err.Error(), false)
		return nil
	}
	return err
}

// ErrIncomplete means that the archive still has pending URLs.
var ErrIncomplete = fetch.TooLarge.Errorf("the archive is not complete")

// errStop means that the report function has returned false.
var errStop = errors.New("enough")

type verifier struct {
	a           *Archive
	report      func(path, text string, note bool) bool
	seed        maphash.Seed
	paths       map[uint64]struct{} // hashes of the paths in the database
	unpublished map[string]bool     // paths of committed files that the next Open moves to the tree
}

func (v *verifier) checkAll(ctx context.Context) error {
	for _, check := range []func(context.Context) error{
		v.findUnpublished, v.checkFiles, v.findUnknown, v.checkRecords, v.checkDerived, v.checkPending,
	} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) addFinding(path, text string, note bool) error {
	if !v.report(path, text, note) {
		return errStop
	}
	return nil
}

// findUnpublished finds the files that were committed but not moved to the
// tree, because the run was killed.
func (v *verifier) findUnpublished(ctx context.Context) error {
	for f, err := range v.a.store.Unpublished() {
		if err != nil {
			return err
		}
		c, err := v.a.committedCapture(ctx, f)
		if f.Close(); err != nil {
			return err
		}
		if c != nil {
			v.unpublished[c.Path] = true
		}
	}
	return nil
}

// checkFiles verifies the file of each object in the tree.
func (v *verifier) checkFiles(ctx context.Context) error {
	return v.a.eachRetrieved(ctx, func(it frontier.Item, s frontier.State) error {
		c := it.LastCapture
		if c.Path == "" {
			return nil
		}
		v.paths[maphash.String(v.seed, c.Path)] = struct{}{}
		text := v.checkFile(c)
		if text == "" || s == frontier.Gone && text == missing {
			return nil
		}
		return v.addFinding(tree.Dir+"/"+c.Path, text, v.unpublished[c.Path])
	})
}

const missing = "missing"

// checkFile verifies the size and the digest of the file of c. It returns a
// description of the problem, or "" if the file is correct.
func (v *verifier) checkFile(c *frontier.Capture) string {
	f, err := v.a.store.Open(c.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return missing
	case err != nil:
		return err.Error()
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err.Error()
	}
	if [sha256.Size]byte(sum.Sum(nil)) != c.Digest {
		return "the content does not match the digest in the database"
	}
	return ""
}

// findUnknown finds files in the tree that the database does not contain.
func (v *verifier) findUnknown(context.Context) error {
	for e, err := range v.a.store.Walk() {
		if err != nil {
			return err
		}
		if _, ok := v.paths[maphash.String(v.seed, e.Path)]; ok {
			continue
		}
		if err := v.addFinding(tree.Dir+"/"+e.Path, "the file is not in the database", true); err != nil {
			return err
		}
	}
	return nil
}

// checkRecords verifies the WARC files. It also finds committed records that
// are missing.
func (v *verifier) checkRecords(ctx context.Context) error {
	names, others, err := warcFiles(v.a.folder.root, "*.warc.gz*")
	if err != nil {
		return err
	}
	for _, name := range others {
		if err := v.addFinding(name, "not a regular file", false); err != nil {
			return err
		}
	}
	sizes := map[string]int64{}
	var paths []string
	for _, name := range names {
		info, err := v.a.folder.root.Stat(name)
		if err != nil {
			return err
		}
		sizes[strings.TrimSuffix(filepath.Base(name), warc.OpenSuffix)] = info.Size()
		paths = append(paths, filepath.Join(v.a.folder.dir, filepath.FromSlash(name)))
	}
	ends, err := v.a.frontier.FileEnds(ctx)
	if err != nil {
		return err
	}
	for name, end := range ends {
		if size, ok := sizes[name]; !ok || size < end {
			if err := v.addFinding(warcFolder+"/"+name, "committed records are missing", false); err != nil {
				return err
			}
		}
	}
	for f, err := range warc.Verify(paths...) {
		if err != nil {
			return err
		}
		name, open := strings.CutSuffix(filepath.Base(f.File), warc.OpenSuffix)
		f.Note = f.Note || open && f.Offset >= ends[name] // the next run removes the record
		text := fmt.Sprintf("at %d: %s: %s", f.Offset, f.Problem, f.Text)
		if err := v.addFinding(warcFolder+"/"+filepath.Base(f.File), text, f.Note); err != nil {
			return err
		}
	}
	return nil
}

// checkDerived compares the index and the manifest with newly generated files.
// It does so only after a complete run, because a run writes these files at its
// end.
func (v *verifier) checkDerived(ctx context.Context) error {
	s, err := v.a.frontier.Stats(ctx)
	if err != nil || s.Ended.IsZero() {
		return err
	}
	names, _, err := warcFiles(v.a.folder.root, "*.warc.gz")
	if err != nil {
		return err
	}
	for i, name := range names {
		names[i] = filepath.Join(v.a.folder.dir, filepath.FromSlash(name))
	}
	err = v.compare(indexFile, func(w io.Writer) error { return warc.Index(w, names...) })
	if e := (*warc.Error)(nil); err != nil && !errors.As(err, &e) { // checkRecords has reported the damage
		return err
	}
	return v.compare(manifest, func(w io.Writer) error { return v.a.manifest(ctx, w) })
}

// compare reports a finding if the file differs from the output of write. The
// file may be missing, because some archives have no tree or no WARC files.
func (v *verifier) compare(name string, write func(io.Writer) error) error {
	want, got := sha256.New(), sha256.New()
	f, err := regularfile.OpenIn(v.a.folder.root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.Copy(got, f); err != nil {
		return err
	}
	if err := write(want); err != nil || bytes.Equal(got.Sum(nil), want.Sum(nil)) {
		return err
	}
	return v.addFinding(name, "the file does not match the archive; the next run replaces it", false)
}

func (v *verifier) checkPending(ctx context.Context) error {
	s, err := v.a.frontier.Stats(ctx)
	switch {
	case err != nil:
		return err
	case s.States[frontier.Pending] > s.Postponed || s.Ended.IsZero():
		return ErrIncomplete
	case s.Postponed > 0:
		text := fmt.Sprintf("URLs that could not be reached: %d; the next run requests them", s.Postponed)
		return v.addFinding(database, text, true)
	}
	return nil
}
