package archive

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/warc"
)

// A Finding describes a problem that Verify found.
type Finding struct {
	Path    string // path of the file relative to the directory of the archive
	Text    string
	Note    bool // if true, the property is unusual but harmless
	Derived bool // if true, Reindex writes the file again
}

// Verify checks all files of the archive in the directory dir. It verifies the
// database against the digest of its rows, and the files in the tree against
// the database. It verifies the digests of all WARC records, and all other
// files against the manifest. It also finds files that are not in the database
// or the manifest.
//
// Verify calls report for each problem and stops when report returns false. If
// the database is damaged, Verify checks nothing else. If URLs are still
// pending, Verify returns ErrIncomplete after all checks.
func Verify(ctx context.Context, dir string, report func(Finding) bool) error {
	err := withReadLock(ctx, dir, func(a *Archive) error {
		v := &verifier{
			reporter: report, a: a, seed: maphash.MakeSeed(), paths: map[uint64]struct{}{}, unpublished: map[string]bool{},
			digests: map[string][32]byte{},
		}
		return v.checkAll(ctx)
	})
	switch {
	case errors.Is(err, errStop):
		return nil
	case errors.Is(err, frontier.ErrDamaged):
		report(Finding{Path: database, Text: err.Error()})
		return nil
	}
	return err
}

// ErrIncomplete means that the archive still has pending URLs.
var ErrIncomplete = fetch.TooLarge.Errorf("the archive is not complete")

// isIncomplete reports whether a crawl still has URLs that it has not requested.
func isIncomplete(s *frontier.Stats) bool {
	return s.States[frontier.Pending] > s.Postponed || s.Ended.IsZero()
}

// errStop means that the report function has returned false.
var errStop = errors.New("enough")

// A reporter is called for each finding, and returns false to end the
// verification.
type reporter func(Finding) bool

// add reports a finding. It returns errStop if the verification ends.
func (r reporter) add(f Finding) error {
	if !r(f) {
		return errStop
	}
	return nil
}

// addRecord reports a finding about a record of the WARC file at path.
func (r reporter) addRecord(path string, f warc.Finding) error {
	return r.add(Finding{Path: path, Note: f.Note, Text: fmt.Sprintf("at %d: %s: %s", f.Offset, f.Problem, f.Text)})
}

type verifier struct {
	reporter
	a           *Archive
	seed        maphash.Seed
	paths       map[uint64]struct{} // hashes of the paths in the database
	unpublished map[string]bool     // paths of committed files that the next Open moves to the tree
	digests     map[string][32]byte // SHA-256 of the WARC files, by name
}

func (v *verifier) checkAll(ctx context.Context) error {
	for _, check := range []func(context.Context) error{
		v.a.frontier.Check, v.findUnpublished, v.checkFiles, v.findUnknown, v.checkRecords, v.checkManifest, v.checkPending,
	} {
		if err := check(ctx); err != nil {
			return err
		}
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
	return v.a.checkFiles(ctx, func(f checkedFile) error {
		path := f.capture.Path
		v.paths[maphash.String(v.seed, path)] = struct{}{}
		if f.problem == "" {
			return nil
		}
		finding := Finding{Path: tree.Dir + "/" + path, Text: f.problem, Note: v.unpublished[path]}
		if f.state == frontier.Pending && f.problem == missing {
			finding.Note, finding.Text = true, "missing; the next run retrieves the object again"
		}
		return v.add(finding)
	})
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
		if err := v.add(Finding{Path: tree.Dir + "/" + e.Path, Text: "the file is not in the database", Note: true}); err != nil {
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
		if err := v.add(Finding{Path: name, Text: "not a regular file"}); err != nil {
			return err
		}
	}
	sizes := map[string]int64{}
	for _, name := range names {
		info, err := v.a.folder.root.Stat(name)
		if err != nil {
			return err
		}
		sizes[strings.TrimSuffix(filepath.Base(name), warc.OpenSuffix)] = info.Size()
	}
	ends, err := v.a.frontier.FileEnds(ctx)
	if err != nil {
		return err
	}
	for name, end := range ends {
		if size, ok := sizes[name]; size < end || !ok && end > 0 {
			if err := v.add(Finding{Path: warcFolder + "/" + name, Text: "committed records are missing"}); err != nil {
				return err
			}
		}
	}
	var failed error
	for f, err := range warc.VerifyReaders(v.openEach(names, &failed)) {
		if err != nil {
			return err
		}
		name, open := strings.CutSuffix(filepath.Base(f.File), warc.OpenSuffix)
		f.Note = f.Note || open && f.Offset >= ends[name] // the next run removes the record
		if err := v.addRecord(f.File, f); err != nil {
			return err
		}
	}
	return failed
}

// openEach opens files one after another. It stores their digests in v.digests,
// so that the manifest is verified without reading the files again.
func (v *verifier) openEach(names []string, failed *error) iter.Seq2[string, io.Reader] {
	return func(yield func(string, io.Reader) bool) {
		for _, name := range names {
			f, err := regularfile.OpenIn(v.a.folder.root, name)
			if err != nil {
				*failed = err
				return
			}
			d := newDigestingFile(f)
			more := yield(name, d)
			if more {
				if v.digests[name], err = d.digest(); err != nil {
					delete(v.digests, name) // checkManifest reports the error
				}
			}
			if f.Close(); !more {
				return
			}
		}
	}
}

func (v *verifier) checkPending(ctx context.Context) error {
	s, err := v.a.frontier.Stats(ctx)
	switch {
	case err != nil:
		return err
	case isIncomplete(&s):
		return ErrIncomplete
	case s.Postponed > 0:
		text := fmt.Sprintf("URLs that could not be reached: %d; the next run requests them", s.Postponed)
		return v.add(Finding{Path: database, Text: text, Note: true})
	}
	return nil
}
