package mirror_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// recoveredFiles is the number of files in the archive of TestRecoverKill.
var recoveredFiles = 200

// TestRecoverKill kills recoveries at random times. After each kill, the
// archive has the old database, no database or the complete new database. The
// next recovery succeeds.
func TestRecoverKill(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	root := t.TempDir()
	for n := range recoveredFiles {
		if err := os.WriteFile(filepath.Join(root, strconv.Itoa(n)), []byte(strconv.Itoa(n)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	o := childTask{Dir: t.TempDir(), URLs: []string{"file://" + root + "/"}, Tree: true, WARC: true}
	o.finish(t)
	want := digests(tree(t, o.Dir, ""))
	const old = "the damaged database"
	database := filepath.Join(o.Dir, "fetch.db")
	spoil := func() {
		remove(t, o.Dir, "fetch.db*")
		if err := os.WriteFile(database, []byte(old), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	spoil()
	o.Recover = true
	whole := o.finish(t)
	found := map[string]int{}
	for range kills {
		spoil()
		c := o.start(t)
		timer := time.AfterFunc(rand.N(whole), func() { c.Process.Kill() })
		c.Wait() // the error is the kill
		timer.Stop()
		switch text, err := os.ReadFile(database); {
		case errors.Is(err, fs.ErrNotExist):
			found["none"]++
		case err != nil:
			t.Fatal(err)
		case string(text) == old:
			found["old"]++
		default:
			found["new"]++
			continue
		}
		o.finish(t)
	}
	t.Logf("databases after the kills: %v", found)
	o.Recover = false
	o.finish(t)
	if got := digests(tree(t, o.Dir, "")); got != want {
		t.Errorf("after the next run:\n%s", differ(got, want))
	}
	for _, e := range events(t, o.Dir) {
		if e.Run > 1 && e.State == "done" && !e.Unchanged {
			t.Errorf("%s was retrieved again", e.URL)
		}
	}
	checkVerify(t, o.Dir)
}

// TestRecoverAfterKill kills runs at random times and removes their databases.
// After a recovery, the next run completes the archive.
func TestRecoverAfterKill(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"http", "ftp", "gopher", "nntp"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sites[name](t)
			sound := childTask{Dir: t.TempDir(), URLs: s.urls, Tree: true, WARC: true}
			whole := sound.finish(t)
			want := digests(tree(t, sound.Dir, ""))
			for range kills / 3 {
				o := sound
				o.Dir = t.TempDir()
				c := o.start(t)
				timer := time.AfterFunc(rand.N(whole), func() { c.Process.Kill() })
				c.Wait() // the error is the kill
				timer.Stop()
				remove(t, o.Dir, "fetch.db*")
				if found, _ := filepath.Glob(filepath.Join(o.Dir, "[wt][ar][re][ce]", "*")); len(found) > 0 { // warc, tree
					o.Recover = true
					o.finish(t)
					o.Recover = false
				}
				o.finish(t)
				checkVerify(t, o.Dir)
				if got := digests(tree(t, o.Dir, "")); got != want {
					t.Errorf("after a kill:\n%s", differ(got, want))
				}
			}
		})
	}
}
