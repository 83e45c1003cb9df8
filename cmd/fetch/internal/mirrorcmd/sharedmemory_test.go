//go:build linux

package mirrorcmd_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestUploadMemory checks the memory of a worker that uploads a WARC file with an
// object of 96 MiB. TestSoakUploadMemory uploads 1 GiB.
func TestUploadMemory(t *testing.T) { uploadMemory(t, 96<<20) }

// uploadMemory checks that the memory of a worker does not depend on the size of
// its WARC files.
func uploadMemory(t *testing.T, size int) {
	t.Parallel()
	fetch, db := commandtest.Fetch(t), peer.Postgres(t, false)
	block := []byte(noise(1 << 20)) // longer than the window of gzip
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(size))
		for n := size; n > 0; n -= len(block) {
			if _, err := w.Write(block[:min(n, len(block))]); err != nil {
				return
			}
		}
	}))
	defer site.Close()
	for _, kind := range []string{"directory", "S3"} {
		t.Run(kind, func(t *testing.T) {
			c := &sharedCrawl{fetch: fetch, stored: t.TempDir()} // without pages
			c.dsn = fmt.Sprintf("postgres://postgres@%s/postgres?search_path=%s", db.Addr, strings.ToLower(kind))
			c.store = "file://" + c.stored
			if kind == "S3" {
				c.useS3(t)
			}
			peak := filepath.Join(t.TempDir(), "peak")
			cmd := c.command("mirror", "--silent", "--show-error", "--ignore-robots", "--max-filesize", "0", "--warc-size", "8G",
				"--store", c.store, "--output-dir", filepath.Join(t.TempDir(), "archive"), site.URL+"/")
			cmd.Args = append([]string{"peak", peak, c.fetch}, cmd.Args[1:]...)
			cmd.Path = commandtest.Peak(t)
			e := commandtest.Exec(t, cmd)
			kib, err := strconv.Atoi(commandtest.Content(t, peak))
			if e.Code != 0 || err != nil || kib > commandtest.MaxMemory {
				t.Errorf("%v, %d KiB, want at most %d", e, kib, commandtest.MaxMemory)
			}
			files := glob(c.stored, "*.warc.gz")
			if len(files) != 1 {
				t.Fatalf("objects %q", files)
			}
			object, err := os.Stat(filepath.Join(c.stored, files[0]))
			if err != nil || object.Size() < int64(size/2) {
				t.Fatal(object, err)
			}
			t.Logf("%d KiB for an object of %d MiB in %v", kib, object.Size()>>20, e.Duration)
		})
	}
}
