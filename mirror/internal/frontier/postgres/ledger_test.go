//go:build unix

package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// TestOriginals checks to which captures a worker may refer with a revisit record.
func TestOriginals(t *testing.T) {
	s := &server{Server: peer.Postgres(t, false)}
	place, ctx := s.place(t), t.Context()
	open := func(name string, stores bool) *engine {
		f, err := New(place).Join(ctx, &frontier.Worker{Name: name, Folder: name, Stores: stores})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f.(*engine)
	}
	one, two := open("one", true), open("two", true)
	if _, _, err := one.Begin(ctx, nil); err != nil {
		t.Fatal(err)
	}
	store := func(e *engine, file string, digest byte, checksum uint32) {
		url := fmt.Sprintf("http://h/%s/%d/%d", file, digest, checksum)
		item := frontier.Item{Key: frontier.KeyOf(url), URL: url, Host: "h"}
		_, err := e.Add(ctx, []frontier.Item{item})
		var ls []*frontier.Lease
		if err == nil {
			ls, err = e.Claim(ctx, e.worker.Name, 1, 10, time.Minute)
		}
		if err != nil || len(ls) != 1 {
			t.Fatal(ls, err)
		}
		c := &frontier.Capture{Key: item.Key, URL: url, Run: 1, File: file, Length: 10, ID: url, Digest: [32]byte{digest}, Checksum: checksum}
		err = e.Complete(ctx, ls[0], []frontier.Result{{Item: item, State: frontier.Done, Capture: c}}, map[string]int64{file: 10})
		if err == nil {
			err = e.Release(ctx, ls[0], time.Time{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	store(one, "a", 1, 0) // a revisit record
	store(one, "a", 1, 11)
	store(one, "a", 2, 0)
	check := func(name string, e *engine, want string) {
		t.Helper()
		found, err := e.CapturesByDigest(ctx, [][32]byte{{1}, {2}})
		got := ""
		for digest, c := range found {
			got += fmt.Sprintf("%d in %s, checksum %d", digest[0], c.File, c.Checksum)
		}
		if got != want || err != nil {
			t.Errorf("%s: found %q, %v; want %q", name, got, err, want)
		}
	}
	const found = "1 in a, checksum 11"
	check("the worker that writes the file", one, found)
	check("another worker", two, "")
	if err := one.Ledger().Finish(ctx, &frontier.WARCFile{Name: "a", Size: 10}); err != nil {
		t.Fatal(err)
	}
	check("after the file is finished", one, "")
	if err := one.Ledger().Store(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	check("after the file is stored", one, found)
	check("another worker, after the file is stored", two, found)
	check("a worker without a store", open("three", false), "")
}

// TestAbandonAfterEnd abandons a worker after the run has ended. The run becomes
// active again for the lost URLs.
func TestAbandonAfterEnd(t *testing.T) {
	s := &server{Server: peer.Postgres(t, false)}
	place, ctx := s.place(t), t.Context()
	f, err := New(place).Join(ctx, &frontier.Worker{Name: "w", Folder: "x"})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	item := benchPage(1)
	if _, _, err := f.Begin(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Add(ctx, []frontier.Item{item}); err != nil {
		t.Fatal(err)
	}
	ls, err := f.Claim(ctx, "w", 1, 1, time.Minute)
	if err != nil || len(ls) != 1 {
		t.Fatal(ls, err)
	}
	c := &frontier.Capture{Key: item.Key, URL: item.URL, Run: 1, File: "a", Length: 10, Size: 7, ID: "x"}
	r := frontier.Result{Item: item, State: frontier.Done, Capture: c, Counts: frontier.Counts{Files: 1, Bytes: 7}}
	if err := f.Complete(ctx, ls[0], []frontier.Result{r}, map[string]int64{"a": 10}); err != nil {
		t.Fatal(err)
	}
	if err := f.End(ctx); err != nil {
		t.Fatal(err)
	}
	other, err := New(place).Join(ctx, &frontier.Worker{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, dry := range []bool{true, false} {
		if a, err := other.Abandon(ctx, "w", frontier.AbandonOptions{DryRun: dry}); err != nil || a.URLs != 1 || a.Files != 1 {
			t.Errorf("dry run %t: %+v, %v", dry, a, err)
		}
		st, err := other.Stats(ctx)
		if err != nil || st.Ended.IsZero() == dry || st.States[frontier.Pending] == 1 == dry {
			t.Errorf("dry run %t: %+v, %v", dry, st, err)
		}
		_, counts, err := other.Counts(ctx)
		if want := r.Counts; dry && counts != want || !dry && counts != (frontier.Counts{}) || err != nil {
			t.Errorf("dry run %t: counts %+v, %v", dry, counts, err)
		}
	}
}
