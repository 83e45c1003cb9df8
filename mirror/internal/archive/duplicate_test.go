package archive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/warc"
)

// TestDuplicates checks which objects are recorded as revisits of an earlier
// record.
func TestDuplicates(t *testing.T) {
	t.Parallel()
	long, short := strings.Repeat("x", minRevisit), strings.Repeat("x", minRevisit-1)
	type step struct {
		text    string
		last    int  // number of the earlier step whose capture is the last one of the URL, from 1, or 0
		batch   bool // whether the step is in the same batch as the step before it
		damaged int  // number of the earlier step whose record is damaged before this step, from 1, or 0
	}
	for _, c := range []struct {
		name  string
		steps []step
		want  string // c: complete record; r: revisit record
	}{
		{"shortest text", []step{{text: long}, {text: long}, {text: long}}, "crr"},
		{"shorter text", []step{{text: short}, {text: short}}, "cc"},
		{"other text of the same length", []step{{text: long}, {text: strings.ToUpper(long)}}, "cc"},
		{"shorter text of the same URL", []step{{text: short}, {text: short, last: 1}}, "cr"},
		{"same batch", []step{{text: long}, {text: long, batch: true}}, "cr"},
		{"shorter text in the same batch", []step{{text: short}, {text: short, batch: true}}, "cc"},
		{"damaged first record", []step{{text: long}, {text: long, damaged: 1}}, "cc"},
		{"damaged first record, and another record of the URL", []step{{text: long}, {text: long, damaged: 1}, {text: long, last: 2}}, "ccr"},
		{"damaged first record, and no other record of the URL", []step{{text: long}, {text: long, damaged: 1}, {text: long}}, "ccc"},
		{"damaged revisit record", []step{{text: long}, {text: long}, {text: long, damaged: 2}}, "crr"},
		{"damaged original of the last record", []step{{text: long}, {text: long}, {text: long, last: 2, damaged: 1}}, "crc"},
	} {
		dir := filepath.Join(t.TempDir(), "archive")
		a := openArchive(t, dir, Options{WARC: &warc.Options{MaxSize: 1}, Now: time.Now})
		l := claimItems(t, a, "http://a.example/0", "http://a.example/1", "http://a.example/2")
		var captures []*frontier.Capture
		var batch []Entry
		for i, s := range c.steps {
			if s.damaged > 0 {
				damaged := captures[s.damaged-1]
				if err := flip(filepath.Join(dir, warcFolder, damaged.File), int(damaged.Offset+damaged.Length)-5); err != nil {
					t.Fatal(err)
				}
				a.verified.states = nil
			}
			it := l.Items[i]
			if s.last > 0 {
				it.LastCapture = captures[s.last-1]
			}
			e := newEntryOf(t, a, it, s.text)
			e.SameContent = s.last > 0
			captures = append(captures, e.Result.Capture)
			batch = append(batch, e)
			if i+1 < len(c.steps) && c.steps[i+1].batch {
				continue
			}
			if err := a.Commit(t.Context(), l, batch, func() {}); err != nil {
				t.Fatal(err)
			}
			for _, e := range batch {
				e.Body.Free()
			}
			batch = nil
		}
		got := ""
		for _, capture := range captures {
			if capture.Checksum == 0 {
				got += "r"
			} else {
				got += "c"
			}
		}
		if got != c.want {
			t.Errorf("%s: records %s, want %s", c.name, got, c.want)
		}
		closeArchive(t, a)
	}
}

// TestDedup checks which objects are recorded as revisits of a record of another
// archive.
func TestDedup(t *testing.T) {
	t.Parallel()
	long, short := strings.Repeat("x", minRevisit), strings.Repeat("x", minRevisit-1)
	other := filepath.Join(t.TempDir(), "other")
	a := openArchive(t, other, Options{WARC: &warc.Options{}, Now: time.Now})
	l := claimItems(t, a, "http://a.example/long", "http://a.example/short")
	visit(t, a, l, l.Items[0], long)
	visit(t, a, l, l.Items[1], short)
	closeArchive(t, a)
	index, err := warc.OpenIndex(filepath.Join(other, indexFile))
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	for _, c := range []struct {
		name  string
		paths []string
		texts []string
		want  string // c: complete record; r: revisit record; e: revisit record of the other archive
	}{
		{"same text", []string{"long"}, []string{long}, "e"},
		{"other text", []string{"long"}, []string{long + "x"}, "c"},
		{"short text", []string{"short"}, []string{short}, "c"},
		{"other URL", []string{"other"}, []string{long}, "c"},
		{"other URL, after a record of the archive", []string{"other", "long"}, []string{long, long}, "cr"},
		{"other URL, after a revisit record of the other archive", []string{"long", "other"}, []string{long, long}, "ec"},
	} {
		dir := filepath.Join(t.TempDir(), "archive")
		a := openArchive(t, dir, Options{WARC: &warc.Options{}, Dedup: index, Now: time.Now})
		var urls []string
		for _, path := range c.paths {
			urls = append(urls, "http://a.example/"+path)
		}
		l := claimItems(t, a, urls...)
		got := ""
		for i, it := range l.Items {
			e := newEntryOf(t, a, it, c.texts[i])
			kind := "c"
			records := e.Records
			e.Records = func(d *frontier.Capture) ([]*warc.Record, error) {
				if kind = "c"; d != nil {
					if kind = "r"; d.ID == "" {
						kind = "e"
						if d.URL != "http://a.example/long" || d.Time.IsZero() || d.Proof == "" {
							t.Errorf("%s: the original is %+v", c.name, d)
						}
					}
				}
				return records(d)
			}
			if err := a.Commit(t.Context(), l, []Entry{e}, func() {}); err != nil {
				t.Fatal(err)
			}
			e.Body.Free()
			got += kind
			a.verified.states = nil
			if !a.Has(e.Result.Capture) {
				t.Errorf("%s: the archive does not have %s", c.name, it.URL)
			}
		}
		if got != c.want {
			t.Errorf("%s: records %s, want %s", c.name, got, c.want)
		}
		closeArchive(t, a)
	}
}

// TestVerifiedRecords checks that a record is verified once, and that the number
// of known records is limited.
func TestVerifiedRecords(t *testing.T) {
	t.Parallel()
	s := newStored(t)
	a := openArchive(t, s.dir, Options{WARC: &warc.Options{}, Now: time.Now})
	defer a.Close()
	for _, step := range []struct {
		name string
		do   func() error
		want bool
	}{
		{"intact", func() error { return nil }, true},
		{"known, and the files are gone", func() error { return os.RemoveAll(filepath.Join(s.dir, warcFolder)) }, true},
		{"unknown, and the files are gone", func() error { a.verified.states = nil; return nil }, false},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		for i, c := range []frontier.Capture{s.first, s.copied, s.other} {
			if got := a.hasRecord(&c); got != step.want {
				t.Errorf("%s: record %d: %t, want %t", step.name, i, got, step.want)
			}
		}
	}
	known := &frontier.Capture{Offset: -1}
	a.verified.set(known, intactObject)
	a.verified.set(known, intactRecord)
	a.verified.set(&frontier.Capture{Offset: -2}, intactRecord)
	if got := a.verified.state(known); got != intactObject {
		t.Errorf("state %d, want %d", got, intactObject)
	}
	for i := range maxVerifiedRecords + 1 {
		a.verified.set(&frontier.Capture{Offset: int64(i)}, intactRecord)
	}
	if n := len(a.verified.states); n > maxVerifiedRecords {
		t.Errorf("%d records, want %d or less", n, maxVerifiedRecords)
	}
}

// TestKnownOriginal checks that the original of a revisit record is not read again
// if it was verified.
func TestKnownOriginal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		known   bool // whether the original was verified
		removed bool // whether its file is missing
		want    bool
	}{
		{"original in its file", false, false, true},
		{"missing file", false, true, false},
		{"missing file of a known original", true, true, true},
	} {
		s := newStored(t)
		a := openArchive(t, s.dir, Options{WARC: &warc.Options{}, Now: time.Now})
		if c.known && !a.hasRecord(&s.first) {
			t.Fatalf("%s: the original is damaged", c.name)
		}
		if c.removed {
			if err := os.Remove(s.path(s.first)); err != nil {
				t.Fatal(err)
			}
		}
		if got := a.hasRecord(&s.copied); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestHasObject checks which records contain the object that the database
// describes. The database can be forged.
func TestHasObject(t *testing.T) {
	t.Parallel()
	s := newStored(t)
	a := openArchive(t, s.dir, Options{WARC: &warc.Options{}, Now: time.Now})
	defer a.Close()
	for _, c := range []struct {
		name   string
		change func(c *frontier.Capture)
		want   bool
	}{
		{"unchanged", func(*frontier.Capture) {}, true},
		{"without a checksum", func(c *frontier.Capture) { c.Checksum = 0 }, true},
		{"shorter", func(c *frontier.Capture) { c.Size-- }, false},
		{"longer", func(c *frontier.Capture) { c.Size++ }, false},
		{"other digest", func(c *frontier.Capture) { c.Digest[0]++ }, false},
		{"other ID", func(c *frontier.Capture) { c.ID += "x" }, false},
		{"other URL", func(c *frontier.Capture) { c.URL += "x" }, false},
		{"other proof", func(c *frontier.Capture) { c.Proof += "x" }, false},
		{"other offset", func(c *frontier.Capture) { c.Offset++ }, false},
		{"other file", func(c *frontier.Capture) { c.File += "x" }, false},
		{"revisit record", func(c *frontier.Capture) { *c = s.copied }, false},
	} {
		capture := s.first
		c.change(&capture)
		for _, again := range []bool{false, true} {
			if got := a.hasObject(&capture); got != c.want {
				t.Errorf("%s, again (%t): %t, want %t", c.name, again, got, c.want)
			}
		}
		a.verified.states = nil
	}
}

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
