package archive

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/warc"
)

// newSealed returns the directory of an archive with each kind of file, and the
// name of its only WARC file.
func newSealed(t *testing.T) (dir, name string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "archive")
	a := openArchive(t, dir, Options{Tree: true, WARC: &warc.Options{}, Now: time.Now})
	l := claimItems(t, a, "http://a.example/first", "http://a.example/other", "http://a.example/waits")
	name = visit(t, a, l, l.Items[0], numbers(1, 1000)).File
	visit(t, a, l, l.Items[1], numbers(2, 1000))
	visit(t, a, l, l.Items[2], numbers(3, 1000))
	if _, err := a.frontier.RequeueItems(t.Context(), []frontier.Key{l.Items[2].Key}); err != nil {
		t.Fatal(err)
	}
	a.Log(testLine{1, "text"})
	for _, name := range []string{"attic/run-1/old", "attic/run-1/\n\\", "mail/box/new/1", "mail/box/tmp/2", "mail/mbox", reportText} {
		err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777)
		if err := errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	closeArchive(t, a)
	return dir, name
}

// textOf returns all fields of f as text.
func textOf(f Finding) string {
	text := f.Path + ": " + f.Text
	if f.Note {
		text = "note: " + text
	}
	if f.Derived {
		text = "derived: " + text
	}
	return text
}

// findings returns the results of Verify as text, with the name "W" for the WARC
// file.
func findings(t *testing.T, dir, name string) (list []string) {
	t.Helper()
	err := Verify(t.Context(), dir, func(f Finding) bool {
		text := strings.NewReplacer(name, "W", dir, "DIR").Replace(textOf(f))
		list = append(list, regexp.MustCompile(`\bat [0-9]+`).ReplaceAllString(text, "at N"))
		return true
	})
	if !errors.Is(err, ErrIncomplete) {
		t.Errorf("error %v, want %v", err, ErrIncomplete)
	}
	slices.Sort(list)
	return list
}

const (
	inDatabase = ": " + mismatch + "the database"
	inManifest = ": " + mismatch + "the manifest"
	unsealed   = "note: " + database + ": there is no digest of the rows: the last run did not end, or an older version wrote the database"
)

// unseal removes the digest of the rows from the database, as a run does that has
// not ended.
func unseal(t *testing.T, dir string) error {
	return withLock(t.Context(), dir, func(a *Archive) error { return a.frontier.Unseal(t.Context()) })
}

// TestVerify damages each kind of file of an archive. The same damage is verified
// after a run that was killed, when only some files still match the manifest.
func TestVerify(t *testing.T) {
	t.Parallel()
	base, name := newSealed(t)
	remove := func(name string) func(string) error {
		return func(dir string) error { return os.Remove(filepath.Join(dir, name)) }
	}
	change := func(name string, at int) func(string) error {
		return func(dir string) error { return flip(filepath.Join(dir, name), at) }
	}
	add := func(name string) func(string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte("new"), 0o666) }
	}
	become := func(name string, replace func(name string) error) func(string) error {
		return func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, name)), replace(filepath.Join(dir, name)))
		}
	}
	folder := func(name string) error { return os.Mkdir(name, 0o777) }
	link := func(name string) error { return os.Symlink("fetch.db", name) }
	records := "warc/" + name
	for _, c := range []struct {
		name   string
		damage func(dir string) error
		want   []string
		killed []string // findings after a killed run
	}{
		{"nothing", func(string) error { return nil }, nil, nil},
		{"changed object", change("tree/http/a.example/first", 7), []string{"tree/http/a.example/first" + inDatabase}, []string{"tree/http/a.example/first" + inDatabase}},
		{"missing object", remove("tree/http/a.example/other"), []string{"tree/http/a.example/other: missing"}, []string{"tree/http/a.example/other: missing"}},
		{"missing object of a URL that is pending", remove("tree/http/a.example/waits"), []string{"note: tree/http/a.example/waits: missing; the next run retrieves the object again"}, []string{"note: tree/http/a.example/waits: missing; the next run retrieves the object again"}},
		{"folder in place of an object", become("tree/http/a.example/first", folder), []string{"tree/http/a.example/first: http/a.example/first is not a regular file"}, []string{"tree/http/a.example/first: http/a.example/first is not a regular file"}},
		{"file in the tree that is in no database", add("tree/http/new"), []string{"note: tree/http/new: the file is not in the database"}, []string{"note: tree/http/new: the file is not in the database"}},
		{"missing records", remove(records), []string{"warc/W: committed records are missing"}, []string{"warc/W: committed records are missing"}},
		{"records without the last byte", func(dir string) error { return truncate(filepath.Join(dir, records), 1) }, []string{"warc/W: at N: torn: unexpected EOF", "warc/W: committed records are missing", "warc/W" + inManifest}, []string{"warc/W: at N: torn: unexpected EOF", "warc/W: committed records are missing", "warc/W" + inManifest}},
		{"changed record", change(records, -5), []string{"warc/W: at N: bad-gzip: gzip: invalid checksum", "warc/W" + inManifest}, []string{"warc/W: at N: bad-gzip: gzip: invalid checksum", "warc/W" + inManifest}},
		{"link in place of records", become(records, link), []string{"warc/W: committed records are missing", "warc/W: not a regular file"}, []string{"warc/W: committed records are missing", "warc/W: not a regular file"}},
		{"unfinished records with bytes that are not committed", func(dir string) error {
			name := filepath.Join(dir, records)
			return errors.Join(grow(name, "more"), os.Rename(name, name+warc.OpenSuffix))
		}, []string{"note: warc/W.open: at N: torn: the following bytes are not a compressed record", "note: warc/W.open: the file is not in the manifest"}, []string{"note: warc/W.open: at N: torn: the following bytes are not a compressed record"}},
		{"missing manifest", remove(manifest), []string{"derived: " + manifest + ": " + missingManifest}, nil},
		{"changed manifest", change(manifest, 5), []string{"derived: " + manifest + inDatabase}, nil},
		{"folder in place of the manifest", become(manifest, folder), []string{"derived: " + manifest + ": DIR/" + manifest + " is not a regular file"}, []string{"derived: " + manifest + ": DIR/" + manifest + " is not a regular file"}},
		{"new file", add("new"), []string{"note: new: the file is not in the manifest"}, nil},
		{"new file in the attic", add("attic/new"), []string{"note: attic/new: the file is not in the manifest"}, nil},
		{"changed file in the attic", change("attic/run-1/old", 0), []string{"attic/run-1/old" + inManifest}, []string{"attic/run-1/old" + inManifest}},
		{"missing file in the attic", remove("attic/run-1/old"), []string{"attic/run-1/old: missing"}, []string{"attic/run-1/old: missing"}},
		{"missing file with an escaped name", remove("attic/run-1/\n\\"), []string{"attic/run-1/\n\\: missing"}, []string{"attic/run-1/\n\\: missing"}},
		{"missing message", remove("mail/box/new/1"), []string{"note: mail/box/new/1: missing"}, nil},
		{"missing message that is incomplete", remove("mail/box/tmp/2"), []string{"mail/box/tmp/2: missing"}, nil},
		{"changed mailbox", change("mail/mbox", 0), []string{"mail/mbox" + inManifest}, nil},
		{"changed journal", change(journalFile, 2), []string{journalFile + inManifest}, nil},
		{"missing journal", remove(journalFile), []string{journalFile + ": missing"}, nil},
		{"changed index", change(indexFile, 2), []string{"derived: " + indexFile + inManifest}, nil},
		{"missing index", remove(indexFile), []string{"derived: " + indexFile + ": missing"}, nil},
		{"link in place of a report", become(reportText, link), []string{reportText + ": missing"}, nil},
		{"changed lock and temporary files", func(dir string) error {
			return errors.Join(add("lock")(dir), os.MkdirAll(filepath.Join(dir, "tmp"), 0o777), add("tmp/x")(dir))
		}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "archive")
			if err := errors.Join(os.CopyFS(dir, os.DirFS(base)), c.damage(dir)); err != nil {
				t.Fatal(err)
			}
			if got := findings(t, dir, name); !slices.Equal(got, c.want) {
				t.Errorf("findings\n%q, want\n%q", got, c.want)
			}
			if err := unseal(t, dir); err != nil {
				t.Fatal(err)
			}
			want := c.killed
			if !slices.ContainsFunc(want, func(f string) bool { return strings.HasSuffix(f, manifest+" is not a regular file") }) {
				want = slices.Sorted(slices.Values(append([]string{unsealed}, want...)))
			}
			if got := findings(t, dir, name); !slices.Equal(got, want) {
				t.Errorf("after a killed run: findings\n%q, want\n%q", got, want)
			}
		})
	}
}

// truncate removes n bytes from the end of a file.
func truncate(name string, n int64) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	return os.Truncate(name, info.Size()-n)
}

// TestVerifyStops checks that Verify makes no call after a call of report that
// returns false.
func TestVerifyStops(t *testing.T) {
	t.Parallel()
	dir, name := newSealed(t)
	for _, err := range []error{
		os.Remove(filepath.Join(dir, "tree/http/a.example/other")),
		os.WriteFile(filepath.Join(dir, "tree/http/new"), nil, 0o666),
		flip(filepath.Join(dir, "warc", name), -5),
		os.Remove(filepath.Join(dir, "attic/run-1/old")),
		os.Remove(filepath.Join(dir, reportText)),
		flip(filepath.Join(dir, "mail/mbox"), 0),
		os.WriteFile(filepath.Join(dir, "new"), nil, 0o666),
		os.Symlink("x", filepath.Join(dir, "warc/link.warc.gz")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	all := len(findings(t, dir, name))
	if all < 8 {
		t.Errorf("%d findings, want 8 or more", all)
	}
	for n := range all {
		calls := 0
		err := Verify(t.Context(), dir, func(Finding) bool { calls++; return calls <= n })
		if calls != n+1 || err != nil {
			t.Errorf("false after %d findings: %d calls, error %v", n, calls, err)
		}
	}
}

// TestVerifyComplete checks when an archive is complete, and that the index is
// verified if there is no manifest.
func TestVerifyComplete(t *testing.T) {
	t.Parallel()
	postponed := "note: " + database + ": URLs that could not be reached: 1; the next run requests them"
	noManifest := func(t *testing.T, dir string) {
		if err := errors.Join(unseal(t, dir), os.Remove(filepath.Join(dir, manifest))); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		states []frontier.Result // of the URLs that have no object
		active bool              // whether the run has not ended
		damage func(t *testing.T, dir string)
		want   []string
		err    error
	}{
		{"complete", nil, false, nil, nil, nil},
		{"active run", nil, true, nil, nil, ErrIncomplete},
		{"postponed URL", []frontier.Result{{Postpone: true}}, false, nil, []string{postponed}, nil},
		{"postponed URL in an active run", []frontier.Result{{Postpone: true}}, true, nil, nil, ErrIncomplete},
		{"postponed and pending URLs", []frontier.Result{{Postpone: true}, {}}, false, nil, nil, ErrIncomplete},
		{"failed URL", []frontier.Result{{State: frontier.Dead}}, false, nil, nil, nil},
		{"no manifest", nil, false, noManifest, []string{unsealed}, nil},
		{"no manifest in an active run, and no index", nil, true, func(t *testing.T, dir string) {
			noManifest(t, dir)
			os.Remove(filepath.Join(dir, indexFile))
		}, []string{unsealed}, ErrIncomplete},
		{"no manifest and no index", nil, false, func(t *testing.T, dir string) {
			noManifest(t, dir)
			os.Remove(filepath.Join(dir, indexFile))
		}, []string{"derived: " + indexFile + ": missing", unsealed}, nil},
		{"no manifest and a changed index", nil, false, func(t *testing.T, dir string) {
			noManifest(t, dir)
			flip(filepath.Join(dir, indexFile), 2)
		}, []string{"derived: " + indexFile + ": the file does not match the WARC files", unsealed}, nil},
		{"damaged database", nil, false, func(t *testing.T, dir string) {
			if err := os.Truncate(filepath.Join(dir, database), 5000); err != nil {
				t.Fatal(err)
			}
		}, []string{database + ": DAMAGED"}, nil},
	} {
		dir := filepath.Join(t.TempDir(), "archive")
		a := openArchive(t, dir, Options{WARC: &warc.Options{}, Now: time.Now})
		l := claimItems(t, a, "http://a.example/0", "http://a.example/1", "http://a.example/2")
		var err error
		for i, it := range l.Items {
			if i >= len(c.states) {
				visit(t, a, l, it, body)
				continue
			}
			c.states[i].Item = it
			e := Entry{Result: c.states[i], Records: func(*frontier.Capture) ([]*warc.Record, error) { return nil, nil }}
			err = errors.Join(err, a.Commit(t.Context(), l, []Entry{e}, func() {}))
		}
		err = errors.Join(err, a.frontier.Release(t.Context(), l, time.Time{}))
		if !c.active {
			err = errors.Join(err, a.frontier.End(t.Context()))
		}
		if err != nil {
			t.Fatal(c.name, err)
		}
		closeArchive(t, a)
		if c.damage != nil {
			c.damage(t, dir)
		}
		var got []string
		err = Verify(t.Context(), dir, func(f Finding) bool {
			text := textOf(f)
			if strings.Contains(text, frontier.ErrDamaged.Error()) {
				text = f.Path + ": DAMAGED"
			}
			got = append(got, text)
			return true
		})
		slices.Sort(got)
		if !slices.Equal(got, c.want) || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%s: findings %q, error %v; want %q, %v", c.name, got, err, c.want, c.err)
		}
	}
}
