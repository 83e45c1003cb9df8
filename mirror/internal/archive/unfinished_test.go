package archive

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// TestUnfinishedDatabase opens archives whose process was killed while it created
// the database, so that a rollback journal exists. A larger database with a
// rollback journal, or one in an archive with files, is damaged.
func TestUnfinishedDatabase(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		database int // bytes; negative for no file
		journal  string
		files    bool
		want     error
	}{
		{"no database", -1, "journal", false, nil},
		{"empty database", 0, "journal", false, nil},
		{"one page", 4096, "journal", false, nil},
		{"two pages", 8192, "journal", false, frontier.ErrDamaged},
		{"one page and an empty journal", 4096, "", false, frontier.ErrDamaged},
		{"one page and files", 4096, "journal", true, ErrNoDatabase},
	} {
		dir := t.TempDir()
		err := os.WriteFile(filepath.Join(dir, database+"-journal"), []byte(test.journal), 0o666)
		if test.database >= 0 {
			err = errors.Join(err, os.WriteFile(filepath.Join(dir, database), make([]byte, test.database), 0o666))
		}
		if test.files {
			err = errors.Join(err, os.MkdirAll(filepath.Join(dir, "tree"), 0o777), os.WriteFile(filepath.Join(dir, "tree", "file"), nil, 0o666))
		}
		if err != nil {
			t.Fatal(err)
		}
		a, _, err := Open(t.Context(), dir, Options{Tree: true, Now: time.Now, Scheme: webScheme})
		if err == nil {
			err = a.Close()
		}
		if !errors.Is(err, test.want) || test.want == nil && err != nil {
			t.Errorf("%s: error %v, want %v", test.name, err, test.want)
		}
		_, kept := os.Stat(filepath.Join(dir, database+"-journal"))
		if (kept == nil) != (test.want != nil) {
			t.Errorf("%s: the journal was kept: %t", test.name, kept == nil)
		}
	}
}
