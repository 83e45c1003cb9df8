package mirrorcmd_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// TestDamagedDatabase damages the database of an archive in several ways. No
// command may accept the database or change its files. The messages name fetch
// recover, which restores the archive.
func TestDamagedDatabase(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "text\n") }))
	defer site.Close()
	url := site.URL + "/5"
	read := func(name string) []byte {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	intact := filepath.Join(t.TempDir(), "arc")
	commandtest.Run(t, 0, "mirror", "--warc", "--output-dir", intact, url)
	for name, damage := range map[string]func(db []byte) (file, journal []byte){
		"flip": func(db []byte) ([]byte, []byte) {
			db[bytes.Index(db, []byte(url))] ^= 1
			return db, nil
		},
		"tree of pages": func(db []byte) ([]byte, []byte) {
			for at := 4096; at < len(db); at += 4096 {
				if db[at] == 13 { // a leaf of a table becomes an interior page
					db[at] = 5
				}
			}
			return db, nil
		},
		"rollback journal": func(db []byte) ([]byte, []byte) { return db, []byte("journal") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(dir, os.DirFS(intact)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "fetch.db")
			file, journal := damage(read(path))
			if err := os.WriteFile(path, file, 0o666); err != nil {
				t.Fatal(err)
			}
			if journal != nil {
				if err := os.WriteFile(path+"-journal", journal, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			for _, args := range [][]string{
				{"mirror", "--warc", "--output-dir", dir, url}, {"verify", "--heal", dir}, {"frontier", "status", dir},
				{"frontier", "dump", dir}, {"frontier", "requeue", dir}, {"index", dir},
			} {
				if name == "flip" && args[0] == "frontier" {
					continue // the command does not compute the digest of all rows
				}
				_, stderr := commandtest.RunStderr(t, 3, args...)
				if !strings.Contains(stderr, "fetch recover "+dir) {
					t.Errorf("%q: %s", args, stderr)
				}
				if !bytes.Equal(read(path), file) || journal != nil && !bytes.Equal(read(path+"-journal"), journal) {
					t.Errorf("%q has changed the database", args)
				}
			}
			commandtest.Contains(t, commandtest.Run(t, 11, "verify", dir), "fetch.db: ", "fetch recover "+dir)
			commandtest.Run(t, 0, "pack", dir, "--wacz", filepath.Join(t.TempDir(), "x.wacz")) // does not need the database
			commandtest.Run(t, 0, "recover", dir)
			commandtest.Run(t, 0, "mirror", "--warc", "--output-dir", dir, url)
			commandtest.Run(t, 0, "verify", dir)
		})
	}
}
