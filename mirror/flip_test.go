package mirror_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
)

// flips is the number of flipped bits in TestFlips.
var flips = 40

// TestFlips flips single bits in all kinds of files of an archive. Verify must
// report each flip, unless the flip changes no row of the database. Heal and a
// run must then restore the archive. Recover precedes them if the database is
// damaged.
func TestFlips(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, o := newLargeArchive(t)
		checkVerify(t, o.Dir)
		original, kinds := o.Dir, filesByKind(t, o.Dir)
		for i := range flips {
			kind := fileKinds[i%len(fileKinds)]
			if len(kinds[kind]) == 0 {
				t.Fatalf("the archive has no file of the kind %s", kind)
			}
			o.Dir = filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(o.Dir, os.DirFS(original)); err != nil {
				t.Fatal(err)
			}
			what := flip(t, o.Dir, kinds[kind][rand.N(len(kinds[kind]))])
			switch {
			case reportsDamage(t, o.Dir):
				repair(t, o, what)
				checkRepaired(t, o.Dir, original, what)
			case kind != "fetch.db" || dumpRows(t, o.Dir) != dumpRows(t, original):
				t.Errorf("%s: not reported", what)
			}
			if err := os.RemoveAll(o.Dir); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// repair repairs an archive and runs its mirror.
func repair(t *testing.T, o mirror.Options, what string) {
	t.Helper()
	_, err := mirror.Heal(t.Context(), o.Dir, mirror.HealOptions{})
	if err != nil { // the database is damaged, or looks like another version
		force := !mirror.NeedsRecovery(err)
		_, err = mirror.Recover(t.Context(), o.Dir, mirror.RecoverOptions{Client: o.Client, Force: force})
	}
	if err == nil {
		_, err = mirror.Run(t.Context(), o)
	}
	if err != nil {
		t.Errorf("%s: repair: %v", what, err)
	}
}

// checkRepaired checks that an archive has no damage, and the same files and
// mailboxes as the original.
func checkRepaired(t *testing.T, dir, original, what string) {
	t.Helper()
	for f, err := range mirror.Open(mirror.Location{Dir: dir}).Verify(t.Context()) {
		if err != nil || !f.Note {
			t.Errorf("%s: verify after the repair: %v %v", what, f, err)
		}
	}
	if got, want := digests(tree(t, dir, "")), digests(tree(t, original, "")); got != want {
		t.Errorf("%s: the tree differs:\n%s", what, differ(got, want))
	}
	const box = "mail/n.example/g.mbox"
	if content(t, filepath.Join(dir, box)) != content(t, filepath.Join(original, box)) {
		t.Errorf("%s: the mailbox differs", what)
	}
	checkRevisits(t, dir)
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
var fileKinds = []string{"tree", "warc", "attic", "mail", "index", "manifest-sha256.txt", "crawl.jsonl", "failed.txt", "report.json", "fetch.db"}

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

// flip flips a random bit of a file and returns a description.
func flip(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at, bit := rand.N(len(text)), rand.N(8)
	text[at] ^= 1 << bit
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("bit %d of byte %d of %s", bit, at, name)
}

// reportsDamage reports whether Verify finds damage.
func reportsDamage(t *testing.T, dir string) (found bool) {
	for f, err := range mirror.Open(mirror.Location{Dir: dir}).Verify(t.Context()) {
		found = found || err != nil || !f.Note
	}
	return found
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
