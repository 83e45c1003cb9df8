package archive

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/warc"
)

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
		if n := len(a.verified.states); n > maxVerifiedRecords {
			t.Fatalf("%d records, want %d or less", n, maxVerifiedRecords)
		}
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
