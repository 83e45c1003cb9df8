package archive

import (
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
