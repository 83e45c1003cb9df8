package archive

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

const body = "the body of an object"

// TestCommit checks that a commit stores an entry in every enabled form, and
// that a failed commit leaves no files and no records.
func TestCommit(t *testing.T) {
	t.Parallel()
	errRecords := errors.New("no records")
	for _, c := range []struct {
		name    string
		options Options
		err     error // error of Entry.Records in the first commit, or nil
	}{
		{"tree", Options{Tree: true}, nil},
		{"records", Options{WARC: &warc.Options{}}, nil},
		{"both", Options{Tree: true, WARC: &warc.Options{}}, nil},
		{"both, after a failed batch", Options{Tree: true, WARC: &warc.Options{}}, errRecords},
		{"both, with one record in each WARC file", Options{Tree: true, WARC: &warc.Options{MaxSize: 1}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, dir := t.Context(), t.TempDir()
			c.options.Now = time.Now
			a := openArchive(t, dir, c.options)
			l := claimItems(t, a, "http://a.example/one", "http://a.example/two")
			if c.err != nil {
				good, bad := newEntry(t, a, l.Items[0]), newEntry(t, a, l.Items[1])
				bad.Records = func(*frontier.Capture) ([]*warc.Record, error) { return nil, c.err }
				err := a.Commit(ctx, l, []Entry{good, bad}, func() { t.Error("first commit: committed was called") })
				if !errors.Is(err, c.err) {
					t.Errorf("first commit: got error %v, want %v", err, c.err)
				}
				good.Body.Free()
				bad.Body.Free()
				if size := sizeOfFiles(t, dir); size > 0 {
					t.Errorf("first commit left %d bytes, want 0", size)
				}
			}
			e := newEntry(t, a, l.Items[0])
			done := false
			if err := a.Commit(ctx, l, []Entry{e}, func() { done = true }); err != nil || !done {
				t.Fatalf("second commit: committed was called: %t, error: %v", done, err)
			}
			e.Body.Free()
			if c.options.WARC != nil && e.Result.Capture.ID == "" || c.options.Tree != (e.Result.Capture.Path != "") {
				t.Errorf("got capture %+v", e.Result.Capture)
			}
			if !a.Has(e.Result.Capture) {
				t.Error("Has reports false after the commit")
			}
			r, err := a.Reopen(ctx, e.Result.Capture)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(r); string(text) != body || err != nil {
				t.Errorf("got object %q and error %v, want %q", text, err, body)
			}
			r.Close()
			closeArchive(t, a)
			checkVerify(t, dir)
		})
	}
}

// TestChecksum checks that the checksum of a record detects each changed byte,
// and that a record counts as damaged only if its content has changed.
func TestChecksum(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := openArchive(t, dir, Options{WARC: &warc.Options{MaxSize: 1}, Now: time.Now})
	l := claimItems(t, a, "http://a.example/one")
	e := newEntry(t, a, l.Items[0])
	if err := a.Commit(t.Context(), l, []Entry{e}, func() {}); err != nil {
		t.Fatal(err)
	}
	e.Body.Free()
	c := *e.Result.Capture
	path := filepath.Join(dir, warcFolder, c.File)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name            string
		flip            int64 // offset in the record, or -1
		length          int64
		matches, intact bool
	}{
		{"unchanged", -1, c.Length, true, true},
		{"operating system in the gzip header", 9, c.Length, false, true},
		{"content", c.Length - 12, c.Length, false, false},
		{"negative length in a forged database", -1, -1, false, true},
		{"length beyond the end of the file", -1, c.Length + 1000, false, true},
	} {
		changed := slices.Clone(text)
		if test.flip >= 0 {
			changed[c.Offset+test.flip] ^= 1
		}
		if err := os.WriteFile(path, changed, 0o666); err != nil {
			t.Fatal(err)
		}
		c := c
		c.Length, a.verified.states = test.length, nil
		if got := a.matchesChecksum(&c); got != test.matches {
			t.Errorf("%s: matches: %t, want %t", test.name, got, test.matches)
		}
		if got := a.hasRecord(&c); got != test.intact {
			t.Errorf("%s: intact: %t, want %t", test.name, got, test.intact)
		}
	}
	closeArchive(t, a)
}

// TestOpenAfterKill checks that Open discards the files and the WARC records
// that a killed process did not commit.
func TestOpenAfterKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := Options{Tree: true, WARC: &warc.Options{}, Now: time.Now, Scheme: webScheme}
	a := openArchive(t, dir, o)
	l := claimItems(t, a, "http://a.example/one")
	e := newEntry(t, a, l.Items[0])
	group, err := e.Records(nil)
	if err != nil {
		t.Fatal(err)
	}
	places, err := a.records.write(group)
	if err == nil {
		err = a.records.w.Abandon() // leaves the file as a killed process does
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Body.toFile(); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	a, truncations, err := Open(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(truncations) != 1 || truncations[0].Offset != 0 ||
		truncations[0].File != places[0].File || truncations[0].Size < places[0].Length {
		t.Errorf("got truncations %+v", truncations)
	}
	for f, err := range a.store.Unpublished() {
		t.Errorf("Open left the file %s, error %v", f.Label(), err)
	}
	closeArchive(t, a)
	checkVerify(t, dir)
}

// TestReindexFailure checks that Reindex keeps the old index if it fails at any
// step, and that it removes indexes without a WARC file when it succeeds.
func TestReindexFailure(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	a := openArchive(t, dir, Options{WARC: &warc.Options{MaxSize: 1}, Now: time.Now})
	l := claimItems(t, a, "http://a.example/one", "http://a.example/two")
	for _, it := range l.Items {
		e := newEntry(t, a, it)
		if err := a.Commit(ctx, l, []Entry{e}, func() {}); err != nil {
			t.Fatal(err)
		}
		e.Body.Free()
	}
	closeArchive(t, a)
	names, _ := filepath.Glob(filepath.Join(dir, "index", "*.cdxj"))
	if len(names) != 3 {
		t.Fatalf("got indexes %q, want one for each of two WARC files and one for both", names)
	}
	index := func() (all string) {
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Error(err)
			}
			all += string(text)
		}
		return all
	}
	want := index()
	for _, name := range names {
		obstacle := filepath.Join(name+".part", "file") // the new version of name cannot be written
		if err := os.MkdirAll(obstacle, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := Reindex(ctx, dir); err == nil {
			t.Errorf("%s.part is a folder: no error", name)
		}
		err := View(ctx, dir, func(f frontier.Frontier) error {
			seal, err := f.ReadSeal(ctx)
			if seal.Rows {
				t.Errorf("failure to write %s: the database is sealed", name)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		if got := index(); got != want {
			t.Errorf("failure to write %s: got index %q, want %q", name, got, want)
		}
		if err := os.RemoveAll(name + ".part"); err != nil {
			t.Fatal(err)
		}
	}
	stale := filepath.Join(dir, "index", "stale.cdxj")
	if err := errors.Join(os.WriteFile(stale, nil, 0o666), Reindex(ctx, dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stale); !errors.Is(err, fs.ErrNotExist) || index() != want {
		t.Errorf("got error %v and index %q, want no stale index and %q", err, index(), want)
	}
	checkVerify(t, dir)
}

// webScheme returns http and https.
var webScheme = fetch.New(fetch.Options{}, http.Schemes(http.Options{})...).Scheme

// openArchive opens an archive without truncating a WARC file.
func openArchive(t *testing.T, dir string, o Options) *Archive {
	t.Helper()
	o.Scheme = webScheme
	a, truncations, err := Open(t.Context(), dir, o)
	if err != nil || len(truncations) > 0 {
		t.Fatalf("got truncations %+v and error %v", truncations, err)
	}
	return a
}

// claimItems starts a run with urls and leases their host.
func claimItems(t *testing.T, a *Archive, urls ...string) *frontier.Lease {
	t.Helper()
	f := a.Frontier()
	_, _, err := f.Begin(t.Context(), nil)
	for _, url := range urls {
		if err == nil {
			_, err = f.Add(t.Context(), []frontier.Item{{Key: frontier.KeyOf(url), URL: url, Host: "a.example"}})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	leases, err := f.Claim(t.Context(), "worker", 1, len(urls), time.Minute)
	if err != nil || len(leases) != 1 || len(leases[0].Items) != len(urls) {
		t.Fatalf("got leases %+v and error %v", leases, err)
	}
	return leases[0]
}

// newEntry returns the entry for a visit that has retrieved body.
func newEntry(t *testing.T, a *Archive, it frontier.Item) Entry {
	t.Helper()
	return newEntryOf(t, a, it, body)
}

// newEntryOf returns the entry for a visit that has retrieved text. Its record is
// a revisit record if the archive has the text already.
func newEntryOf(t *testing.T, a *Archive, it frontier.Item, text string) Entry {
	t.Helper()
	s := a.Spool(Label(it.Key))
	if _, err := io.WriteString(s, text); err != nil {
		t.Fatal(err)
	}
	u := uri.MustParse(it.URL)
	now := time.Now().UTC().Truncate(time.Microsecond)
	return Entry{
		URL: u, Body: s, Digest: s.Sum(), Size: s.Size(),
		Result: frontier.Result{Item: it, State: frontier.Done, Capture: &frontier.Capture{
			Key: it.Key, URL: it.URL, Run: 1, Time: now, Kind: "document", Media: "text/plain",
			Size: s.Size(), Digest: sha256.Sum256([]byte(text)),
		}},
		Records: func(duplicate *frontier.Capture) ([]*warc.Record, error) {
			c := &warc.Capture{URL: u, Date: now}
			if d := duplicate; d != nil {
				first := warc.Reference{ID: d.ID, URL: uri.MustParse(d.URL), Date: d.Time}
				return []*warc.Record{c.Revisit(first, d.Proof, nil)}, nil
			}
			r, err := s.Reader()
			return []*warc.Record{c.Resource("text/plain", r)}, err
		},
	}
}

// visit commits a visit that has retrieved text, and returns its capture.
func visit(t *testing.T, a *Archive, l *frontier.Lease, it frontier.Item, text string) frontier.Capture {
	t.Helper()
	e := newEntryOf(t, a, it, text)
	if err := a.Commit(t.Context(), l, []Entry{e}, func() {}); err != nil {
		t.Fatal(err)
	}
	e.Body.Free()
	return *e.Result.Capture
}

// sizeOfFiles returns the total size of all files in the archive except the
// database.
func sizeOfFiles(t *testing.T, dir string) (size int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasPrefix(d.Name(), database) {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				size += info.Size()
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}

// closeArchive writes the derived files and closes the archive.
func closeArchive(t *testing.T, a *Archive) {
	t.Helper()
	if err := errors.Join(a.Derive(t.Context(), nil), a.Seal(t.Context()), a.Close()); err != nil {
		t.Fatal(err)
	}
}

// checkVerify checks that Verify reports no problem. The run must not have
// ended.
func checkVerify(t *testing.T, dir string) {
	t.Helper()
	err := Verify(context.Background(), dir, func(f Finding) bool {
		t.Errorf("Verify reported %+v", f)
		return true
	})
	if !errors.Is(err, ErrIncomplete) {
		t.Errorf("Verify: got error %v, want %v", err, ErrIncomplete)
	}
}
