//go:build linux

package mirrorcmd_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// TestOnlyCopy checks that a run without --keep-local does not remove the local
// copy of an object that the store has lost or changed, although the database
// records that the store has it.
func TestOnlyCopy(t *testing.T) {
	t.Parallel()
	c := newSharedCrawl(t, 2, 60)
	w := c.one()
	if e := commandtest.Exec(t, w.withArgs("--keep-local", "--warc-size", "10k")); e.Code != 0 {
		t.Fatal(e)
	}
	name := glob(c.stored, "*.warc.gz")[0]
	object := filepath.Join(c.stored, name)
	info, err := os.Stat(object)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		change func() error
	}{
		{"changed object", func() error { return os.WriteFile(object, make([]byte, info.Size()), 0o666) }},
		{"missing object", func() error { return os.Remove(object) }},
	} {
		if err := test.change(); err != nil {
			t.Fatal(err)
		}
		e := commandtest.Exec(t, w.command())
		if left := glob(w.dir, "warc", "*"); e.Code != 0 || !slices.Equal(left, []string{name}) {
			t.Errorf("%s: %v, local files %q, want %s", test.name, e, left, name)
		}
	}
}
