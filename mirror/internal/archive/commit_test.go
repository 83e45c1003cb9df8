package archive

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/warc"
)

// TestCommitUnknown cancels a commit of a shared crawl during its transaction, whose
// result is then unknown. The records remain until the next Open, which removes
// them if the transaction was not committed.
func TestCommitUnknown(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "archive")
	a := openArchive(t, dir, Options{WARC: &warc.Options{}, Now: time.Now})
	l := claimItems(t, a, "http://a.example/one", "http://a.example/two")
	first := visit(t, a, l, l.Items[0], body)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e := newEntry(t, a, l.Items[1])
	e.Line = func() any { cancel(); return testLine{1, "text"} }
	a.options.Shared = &Shared{}
	err := a.Commit(ctx, l, []Entry{e}, func() { t.Error("committed was called") })
	a.options.Shared = nil
	e.Body.Free()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	a, truncations, err := Open(t.Context(), dir, Options{WARC: &warc.Options{}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if len(truncations) != 1 || truncations[0].File != first.File || truncations[0].Offset != first.Offset+first.Length {
		t.Errorf("truncations %+v, want one after the record %+v", truncations, first)
	}
	closeArchive(t, a)
	checkVerify(t, dir)
}

// TestCommitFails checks that a commit that the database rejects leaves no files
// and no records, and that a later commit stores the entry.
func TestCommitFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		shared bool // whether the crawl is shared
		cancel bool // whether the context is canceled
		fenced bool // whether the lease has ended
		err    error
	}{
		{"canceled", false, true, false, nil},
		{"canceled in a shared crawl", true, true, false, context.Canceled},
		{"fenced", false, false, true, frontier.ErrFenced},
		{"fenced and canceled", false, true, true, frontier.ErrFenced},
	} {
		for i, o := range []Options{{Tree: true}, {WARC: &warc.Options{}}, {Tree: true, WARC: &warc.Options{}}} {
			name := fmt.Sprint(c.name, ", options ", i)
			dir := filepath.Join(t.TempDir(), "archive")
			o.Now = time.Now
			a := openArchive(t, dir, o)
			l := claimItems(t, a, "http://a.example/one")
			next := l
			if c.fenced {
				err := a.frontier.Release(t.Context(), l, time.Time{})
				leases, err2 := a.frontier.Claim(t.Context(), "worker", 1, 9, time.Minute)
				if err := errors.Join(err, err2); err != nil || len(leases) != 1 {
					t.Fatal(leases, err)
				}
				next = leases[0]
			}
			ctx, cancel := context.WithCancel(t.Context())
			if c.cancel {
				cancel()
			}
			if c.shared {
				a.options.Shared = &Shared{}
			}
			e := newEntry(t, a, l.Items[0])
			called := false
			err := a.Commit(ctx, l, []Entry{e}, func() { called = true })
			cancel()
			e.Body.Free()
			a.options.Shared = nil
			if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) || called != (err == nil) {
				t.Errorf("%s: error %v, want %v; committed was called: %t", name, err, c.err, called)
			}
			if size := sizeOfFiles(t, dir); (size > 0) != (err == nil) {
				t.Errorf("%s: %d bytes in files", name, size)
			}
			if err != nil {
				if c := visit(t, a, next, next.Items[0], body); !a.Has(&c) {
					t.Errorf("%s: the archive does not have %+v", name, c)
				}
			}
			closeArchive(t, a)
			checkVerify(t, dir)
		}
	}
}
