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

// Verify accounts for every byte of the archive at dir: each file of the tree
// is the object that was retrieved, each record of the WARC files is whole and
// what its digests say, index and manifest are what follows from them, and
// nothing is there that was not retrieved. It reports what is wrong, or only
// strange, which is a note; a report that returns false ends it. ErrIncomplete
// comes last, where something is still to be visited.
func Verify(ctx context.Context, dir string, report func(path, text string, note bool) bool) error {
	err := exclusive(ctx, dir, func(a *Archive) error {
		v := &verifier{a: a, report: report, seed: maphash.MakeSeed(), known: map[uint64]struct{}{}, later: map[string]bool{}}
		return v.all(ctx)
	})
	switch {
	case errors.Is(err, errEnough):
		return nil
	case errors.Is(err, frontier.ErrDamaged):
		report(database, err.Error(), false)
		return nil
	}
	return err
}

// ErrIncomplete says that an archive has URLs that are still to be visited.
var ErrIncomplete = fetch.TooLarge.Errorf("the archive is not complete")

// errEnough: whoever reads the findings wants no more.
var errEnough = errors.New("enough")

type verifier struct {
	a      *Archive
	report func(path, text string, note bool) bool
	seed   maphash.Seed
	known  map[uint64]struct{} // paths of the tree that the database knows
	later  map[string]bool     // those that the next run will give to the files that the database knows
}

func (v *verifier) all(ctx context.Context) error {
	for _, step := range []func(context.Context) error{v.unnamed, v.objects, v.strangers, v.records, v.derived, v.pending} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) say(path, text string, note bool) error {
	if !v.report(path, text, note) {
		return errEnough
	}
	return nil
}

// unnamed finds what a run had completed that was killed then.
func (v *verifier) unnamed(ctx context.Context) error {
	for f, err := range v.a.store.Left() {
		if err != nil {
			return err
		}
		c, err := v.a.committed(ctx, f)
		if f.Close(); err != nil {
			return err
		}
		if c != nil {
			v.later[c.Path] = true
		}
	}
	return nil
}

// objects checks the file of each object.
func (v *verifier) objects(ctx context.Context) error {
	return v.a.retrieved(ctx, func(it frontier.Item, s frontier.State) error {
		c := it.LastCapture
		if c.Path == "" {
			return nil
		}
		v.known[maphash.String(v.seed, c.Path)] = struct{}{}
		text := v.object(c)
		if text == "" || s == frontier.Gone && text == missing {
			return nil
		}
		return v.say(tree.Dir+"/"+c.Path, text, v.later[c.Path])
	})
}

const missing = "missing"

// object tells what is wrong with the file of c.
func (v *verifier) object(c *frontier.Capture) string {
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
		return "its bytes are not those that were brought"
	}
	return ""
}

// strangers finds files that nobody brought.
func (v *verifier) strangers(context.Context) error {
	for e, err := range v.a.store.Walk() {
		if err != nil {
			return err
		}
		if _, ok := v.known[maphash.String(v.seed, e.Path)]; ok {
			continue
		}
		if err := v.say(tree.Dir+"/"+e.Path, "the database does not know it", true); err != nil {
			return err
		}
	}
	return nil
}

// records checks the WARC files, and that they hold what the database says.
func (v *verifier) records(ctx context.Context) error {
	names, others, err := warcFiles(v.a.folder.root, "*.warc.gz*")
	if err != nil {
		return err
	}
	for _, name := range others {
		if err := v.say(name, "no regular file", false); err != nil {
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
			if err := v.say(warcFolder+"/"+name, "shorter than what was committed, or missing", false); err != nil {
				return err
			}
		}
	}
	for f, err := range warc.Verify(paths...) {
		if err != nil {
			return err
		}
		name, open := strings.CutSuffix(filepath.Base(f.File), warc.OpenSuffix)
		f.Note = f.Note || open && f.Offset >= ends[name] // the next run cuts it off
		text := fmt.Sprintf("at %d: %s: %s", f.Offset, f.Problem, f.Text)
		if err := v.say(warcFolder+"/"+filepath.Base(f.File), text, f.Note); err != nil {
			return err
		}
	}
	return nil
}

// derived compares what follows from the database and the WARC files with what
// the last run wrote. One that goes on, or was killed, writes it at its end.
func (v *verifier) derived(ctx context.Context) error {
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
	if e := (*warc.Error)(nil); err != nil && !errors.As(err, &e) { // damage is what the records told of
		return err
	}
	return v.compare(manifest, func(w io.Writer) error { return v.a.manifest(ctx, w) })
}

// compare finds a file that is not what write makes of it. An archive without
// a tree has no manifest, and one without WARC files no index.
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
	return v.say(name, "not what follows from what was brought; the next run writes it anew", false)
}

func (v *verifier) pending(ctx context.Context) error {
	s, err := v.a.frontier.Stats(ctx)
	switch {
	case err != nil:
		return err
	case s.States[frontier.Pending] > s.Parked || s.Ended.IsZero():
		return ErrIncomplete
	case s.Parked > 0:
		return v.say(database, fmt.Sprintf("URLs that could not be reached: %d; the next run requests them", s.Parked), true)
	}
	return nil
}
