package mirror_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror"
)

// databaseFlips is the number of flipped bits in TestRunDamagedDatabase. With
// the flag -short, fewer bits are flipped.
var databaseFlips = 25

// TestRunDamagedDatabase flips bits of the database. A run must end with an error
// if Verify reports a damaged database, and Verify must still report it
// afterwards. A flip in the digest of the manifest is reported for the manifest,
// which the run writes again.
func TestRunDamagedDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, o := newLargeArchive(t)
		original, flips := o.Dir, databaseFlips
		if testing.Short() {
			flips = min(flips, 3)
		}
		for reported := 0; reported < flips; {
			o.Dir = filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(o.Dir, os.DirFS(original)); err != nil {
				t.Fatal(err)
			}
			what := flip(t, o.Dir, "fetch.db")
			if !reportsDatabase(t, o.Dir) {
				continue
			}
			reported++
			if _, err := mirror.Run(t.Context(), o); err == nil {
				t.Errorf("%s: the run accepted the database", what)
			}
			if !reportsDatabase(t, o.Dir) {
				t.Errorf("%s: Verify reports no damage after the run", what)
			}
		}
	})
}

// reportsDatabase reports whether Verify finds damage of the database.
func reportsDatabase(t *testing.T, dir string) (found bool) {
	for f, err := range mirror.Open(mirror.Location{Dir: dir}).Verify(t.Context()) {
		found = found || err != nil || !f.Note && f.Path == "fetch.db"
	}
	return found
}

// TestInvalidDate changes a date in a database without a digest, as after a
// kill. A run must name the damage, Heal must change nothing, and Recover must
// restore the archive.
func TestInvalidDate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, o := newLargeArchive(t)
		db, err := sqlite.Open(filepath.Join(o.Dir, "fetch.db"))
		if err != nil {
			t.Fatal(err)
		}
		err = db.Script("update seal set rows = null; update capture set modified = 1154755123200000000 where id = 2")
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := mirror.Run(t.Context(), o); !mirror.NeedsRecovery(err) {
			t.Errorf("run: %v", err)
		}
		if _, err := mirror.Heal(t.Context(), o.Dir, mirror.HealOptions{}); !mirror.NeedsRecovery(err) {
			t.Errorf("heal: %v", err)
		}
		if _, err := mirror.Recover(t.Context(), o.Dir, mirror.RecoverOptions{Client: o.Client}); err != nil {
			t.Fatal(err)
		}
		run(t, o)
		checkVerify(t, o.Dir)
	})
}
