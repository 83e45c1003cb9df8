package archive

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

const body = "the body of an object"

// TestCommit checks that an entry is in the archive after a commit in every
// form that is wanted, and that a commit that fails leaves nothing.
func TestCommit(t *testing.T) {
	t.Parallel()
	errRecords := errors.New("no records")
	for _, c := range []struct {
		name    string
		options Options
		err     error // of the records of a first attempt
	}{
		{"tree", Options{Tree: true}, nil},
		{"records", Options{WARC: &warc.Options{}}, nil},
		{"both", Options{Tree: true, WARC: &warc.Options{}}, nil},
		{"both, after a batch that failed", Options{Tree: true, WARC: &warc.Options{}}, errRecords},
		{"both, in a file each", Options{Tree: true, WARC: &warc.Options{MaxSize: 1}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, dir := t.Context(), t.TempDir()
			c.options.Now = time.Now
			a := opened(t, dir, c.options)
			l := claimed(t, a, "http://a.example/one", "http://a.example/two")
			if c.err != nil {
				good, bad := entry(t, a, l.Items[0]), entry(t, a, l.Items[1])
				bad.Records = func(*frontier.Capture) ([]*warc.Record, error) { return nil, c.err }
				if err := a.Commit(ctx, l, []Entry{good, bad}, func() { t.Error("committed") }); !errors.Is(err, c.err) {
					t.Errorf("the first commit: %v", err)
				}
				good.Body.Free()
				bad.Body.Free()
				if size := written(t, dir); size > 0 {
					t.Errorf("%d bytes are left of the first commit", size)
				}
			}
			e := entry(t, a, l.Items[0])
			done := false
			if err := a.Commit(ctx, l, []Entry{e}, func() { done = true }); err != nil || !done {
				t.Fatalf("%v, %v", done, err)
			}
			e.Body.Free()
			if c.options.WARC != nil && e.Result.Capture.ID == "" || c.options.Tree != (e.Result.Capture.Path != "") {
				t.Errorf("%+v", e.Result.Capture)
			}
			if !a.Has(e.Result.Capture) {
				t.Error("the archive does not have it")
			}
			r, err := a.Reopen(ctx, e.Result.Capture)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(r); string(text) != body || err != nil {
				t.Errorf("%q, %v", text, err)
			}
			r.Close()
			closed(t, a)
			verified(t, dir)
		})
	}
}

// TestNoCommit checks that bytes which no batch committed are gone when the
// archive is opened again.
func TestNoCommit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := Options{Tree: true, WARC: &warc.Options{}, Now: time.Now}
	a := opened(t, dir, o)
	l := claimed(t, a, "http://a.example/one")
	e := entry(t, a, l.Items[0])
	group, err := e.Records(nil)
	if err != nil {
		t.Fatal(err)
	}
	places, err := a.records.write(group)
	if err == nil {
		err = a.records.w.Abandon() // as a kill does
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
	a, cuts, err := Open(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(cuts) != 1 || cuts[0].Offset != 0 || cuts[0].File != places[0].File || cuts[0].Size < places[0].Length {
		t.Errorf("cut off: %+v", cuts)
	}
	for f, err := range a.store.Left() {
		t.Errorf("left: %s, %v", f.Label(), err)
	}
	closed(t, a)
	verified(t, dir)
}

func opened(t *testing.T, dir string, o Options) *Archive {
	t.Helper()
	a, cuts, err := Open(t.Context(), dir, o)
	if err != nil || len(cuts) > 0 {
		t.Fatalf("%+v, %v", cuts, err)
	}
	return a
}

// claimed begins a run with urls, and leases their host.
func claimed(t *testing.T, a *Archive, urls ...string) *frontier.Lease {
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
	leases, err := f.Claim(t.Context(), "a worker", 1, len(urls), time.Minute)
	if err != nil || len(leases) != 1 || len(leases[0].Items) != len(urls) {
		t.Fatalf("%+v, %v", leases, err)
	}
	return leases[0]
}

// entry returns what a visit to it with the answer body adds.
func entry(t *testing.T, a *Archive, it frontier.Item) Entry {
	t.Helper()
	s := a.Spool(Label(it.Key))
	if _, err := io.WriteString(s, body); err != nil {
		t.Fatal(err)
	}
	u := uri.MustParse(it.URL)
	now := time.Now().UTC().Truncate(time.Microsecond)
	return Entry{
		URL: u, Body: s, Digest: s.Sum(), Size: s.Size(),
		Result: frontier.Result{Item: it, State: frontier.Done, Capture: &frontier.Capture{
			Key: it.Key, URL: it.URL, Run: 1, Time: now, Kind: "document", Media: "text/plain", Size: s.Size(), Digest: sha256.Sum256([]byte(body)),
		}},
		Records: func(*frontier.Capture) ([]*warc.Record, error) {
			r, err := s.Reader()
			c := &warc.Capture{URL: u, Date: now}
			return []*warc.Record{c.Resource("text/plain", r)}, err
		},
	}
}

// written returns the size of all files of the archive but those of the
// database.
func written(t *testing.T, dir string) (size int64) {
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

func closed(t *testing.T, a *Archive) {
	t.Helper()
	if err := errors.Join(a.Derive(t.Context(), nil), a.Close()); err != nil {
		t.Fatal(err)
	}
}

// verified checks that nothing is wrong with the archive, whose run has not
// ended.
func verified(t *testing.T, dir string) {
	t.Helper()
	err := Verify(context.Background(), dir, func(path, text string, note bool) bool {
		t.Errorf("%s: %s", path, text)
		return true
	})
	if !errors.Is(err, ErrIncomplete) {
		t.Error(err)
	}
}
