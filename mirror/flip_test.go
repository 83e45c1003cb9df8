package mirror_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/internal/sqlite"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
)

// flips is the number of flipped bits in TestFlips.
var flips = 40

// TestFlips flips single bits in all kinds of files of an archive. Verify must
// report each flip, unless the flip changes no row of the database.
func TestFlips(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, o := newLargeArchive(t)
		checkVerify(t, o.Dir)
		kinds := filesByKind(t, o.Dir)
		for i := range flips {
			kind := fileKinds[i%len(fileKinds)]
			if len(kinds[kind]) == 0 {
				t.Fatalf("the archive has no file of the kind %s", kind)
			}
			name := kinds[kind][rand.N(len(kinds[kind]))]
			undo, what := flip(t, o.Dir, name)
			if !reportsDamage(t, o.Dir) && !(kind == "fetch.db" && sameRows(t, o.Dir, undo)) {
				t.Errorf("%s: not reported", what)
			}
			undo()
		}
		checkVerify(t, o.Dir)
	})
}

// newLargeArchive returns the options of a mirror with all kinds of files after
// two runs. The second run has moved a file to the attic.
func newLargeArchive(t *testing.T) (*network, mirror.Options) {
	w := newNetwork(t)
	s := &taggedSite{webSite: webSite{"/old": strings.Repeat("deleted ", 300)}, tag: "1"}
	links := "<a href=old>"
	for n := range 12 {
		s.webSite[fmt.Sprintf("/%d", n)] = strings.Repeat(fmt.Sprintf("page %d of the site\n", n), 300)
		links += fmt.Sprintf("<a href=%d>", n)
	}
	s.webSite["/copy"] = s.webSite["/1"]
	s.webSite["/"] = links + "<a href=copy><a href=/none>"
	w.web("a.example", s)
	o := w.news(&newsgroup{high: 3})
	o.Seeds = append(o.Seeds, uri.MustParse("http://a.example/"))
	o.WARC, o.Mail, o.Delete, o.MaxDelete = &mirror.WARC{Prefix: "test", Size: 3000}, mirror.Mbox, true, 0.5
	run(t, o)
	delete(s.webSite, "/old")
	s.webSite["/2"] += "changed"
	s.tag = "2"
	if sum := run(t, o); sum.Attic != 1 {
		t.Fatalf("%+v", sum)
	}
	return w, o
}

// fileKinds lists the directories and the files of an archive.
var fileKinds = []string{"tree", "warc", "attic", "mail", "index", "manifest-sha256.txt", "crawl.jsonl", "failed.txt", "fetch.db"}

// filesByKind returns the files of an archive by their kind.
func filesByKind(t *testing.T, dir string) map[string][]string {
	t.Helper()
	kinds := map[string][]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if info, e := d.Info(); err == nil && d.Type().IsRegular() && e == nil && info.Size() > 0 {
			kind, _, _ := strings.Cut(name, "/")
			kinds[kind] = append(kinds[kind], name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}

// flip flips a random bit of a file. It returns a description, and a function
// that restores the file.
func flip(t *testing.T, dir, name string) (undo func(), what string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	after := append([]byte(nil), before...)
	at, bit := rand.N(len(after)), rand.N(8)
	after[at] ^= 1 << bit
	write := func(text []byte) {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(after)
	return func() {
		removeLog(t, dir)
		write(before)
	}, fmt.Sprintf("bit %d of byte %d of %s", bit, at, name)
}

// removeLog removes the log that SQLite leaves if it cannot close a database.
func removeLog(t *testing.T, dir string) {
	t.Helper()
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(filepath.Join(dir, "fetch.db"+suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

// reportsDamage reports whether Verify finds damage.
func reportsDamage(t *testing.T, dir string) (found bool) {
	for f, err := range mirror.Verify(t.Context(), dir) {
		found = found || err != nil || !f.Note
	}
	return found
}

// sameRows reports whether the rows of the database equal the rows of the
// database that undo restores.
func sameRows(t *testing.T, dir string, undo func()) bool {
	t.Helper()
	flipped := dumpRows(t, dir)
	undo()
	return flipped == dumpRows(t, dir)
}

// dumpRows returns all rows of the database.
func dumpRows(t *testing.T, dir string) string {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(dir, "fetch.db"))
	if err != nil {
		return err.Error()
	}
	defer db.Close()
	var dump []byte
	for _, table := range []string{"book", "layout", "seal", "run", "host", "url", "capture", "file", "name", "sqlite_schema"} {
		err := db.ForEachRow("select * from "+table, nil, func(r *sqlite.Row) error {
			dump = r.AppendColumns(dump)
			return nil
		})
		if err != nil {
			return err.Error()
		}
	}
	return string(dump)
}
