package mirror_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
)

// healKills is the number of kills of TestKillHeal.
var healKills = 10

// TestKillHeal kills Heal at random times. Verify must accept the archive as
// readable after each kill. After the last Heal and a run, the archive must
// have no damage and the same files as before the damage.
func TestKillHeal(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	s := sites["file"](t)
	for n := range 100 {
		s.Put(fmt.Sprint("pub/many/", n), []byte(randomText(1000+n)))
	}
	base := childTask{Dir: t.TempDir(), URLs: s.urls, Tree: true, WARC: true}
	base.finish(t)
	s.Put("pub/one.txt", []byte("another text"))
	base.finish(t)
	want := digests(tree(t, base.Dir, ""))
	for left := healKills; left > 0; {
		killed := base
		killed.Dir, killed.Heal = filepath.Join(t.TempDir(), "copy"), true
		if err := os.CopyFS(killed.Dir, os.DirFS(base.Dir)); err != nil {
			t.Fatal(err)
		}
		damageAll(t, killed.Dir)
		whole := healDuration(t, killed)
		for done := false; !done; {
			c := killed.start(t)
			timer := time.AfterFunc(rand.N(whole), func() { c.Process.Kill() })
			done = c.Wait() == nil
			if timer.Stop(); !done {
				left--
			}
			for f, err := range mirror.Open(mirror.Location{Dir: killed.Dir}).Verify(t.Context()) {
				if err != nil && !errors.Is(err, mirror.ErrIncomplete) || strings.HasPrefix(f.Path, "fetch.db") && !f.Note {
					t.Errorf("verify after a kill: %v %v", f, err)
				}
			}
			done = done || left <= 0
		}
		killed.finish(t)
		killed.Heal = false
		killed.finish(t)
		checkVerify(t, killed.Dir)
		checkRevisits(t, killed.Dir)
		if got := digests(tree(t, killed.Dir, "")); got != want {
			t.Errorf("the tree differs:\n%s", differ(got, want))
		}
		if names, err := filepath.Glob(filepath.Join(killed.Dir, "warc", "*.open")); len(names) > 0 || err != nil {
			t.Errorf("unfinished files %q, %v", names, err)
		}
	}
}

// damageAll flips a byte in each WARC file, in some files of the tree and in the
// journal.
func damageAll(t *testing.T, dir string) {
	t.Helper()
	for _, name := range warcs(t, dir) {
		flipAt(t, name, rand.Int64N(int64(len(content(t, name)))))
	}
	for name := range tree(t, dir, "") {
		if rand.N(10) == 0 {
			flipAt(t, filepath.Join(dir, "tree", name), 3)
		}
	}
	flipAt(t, filepath.Join(dir, "crawl.jsonl"), 300)
}

// healDuration returns the duration of a process that heals a copy of the
// archive of o.
func healDuration(t *testing.T, o childTask) time.Duration {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(o.Dir)); err != nil {
		t.Fatal(err)
	}
	o.Dir = dir
	return o.finish(t)
}

// TestHealDamagedDatabase checks that Heal changes nothing if the database is
// damaged.
func TestHealDamagedDatabase(t *testing.T) {
	t.Parallel()
	o := options(t, sites["file"](t).urls...)
	run(t, o)
	db := filepath.Join(o.Dir, "fetch.db")
	flipAt(t, db, int64(len(content(t, db)))/2-3)
	flipAt(t, db, 8191)
	before := digests(allFiles(t, o.Dir))
	_, err := mirror.Heal(t.Context(), o.Dir, mirror.HealOptions{})
	if !mirror.NeedsRecovery(err) || fetch.FaultOf(err) != fetch.Local {
		t.Errorf("got %v", err)
	}
	if got := digests(allFiles(t, o.Dir)); got != before {
		t.Errorf("files were changed:\n%s", differ(got, before))
	}
}

// allFiles returns the contents of all files of an archive except the log of
// SQLite.
func allFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, names := range filesByKind(t, dir) {
		for _, name := range names {
			if !strings.HasPrefix(name, "fetch.db-") {
				files[name] = content(t, filepath.Join(dir, name))
			}
		}
	}
	return files
}
