package download_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// TestWARCForms reads a file that is compressed with zstd and an ARC file with
// every command that reads WARC files.
func TestWARCForms(t *testing.T) {
	arc, err := os.ReadFile("../../../../warc/testdata/example.arc")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Repeat("<p>A paragraph of the page</p>\n", 100)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte(page))
	}))
	defer web.Close()
	url := web.URL + "/page.html"
	recorded := filepath.Join(t.TempDir(), "x.warc.zst")
	commandtest.Run(t, 0, "-s", "--warc-file", recorded, "-o", filepath.Join(t.TempDir(), "page"), url)
	commandtest.Run(t, 2, "--warc-file", filepath.Join(t.TempDir(), "x.arc"), url)
	for _, tc := range []struct{ name, content, url, want string }{
		{"x.warc.zst", commandtest.Content(t, recorded), url, "A paragraph"},
		{"x.arc", string(arc), "http://example.com/", "Example Domain"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			name := filepath.Join(dir, tc.name)
			commandtest.Put(t, name, tc.content)
			commandtest.Run(t, 0, "-s", "verify", name)
			index := commandtest.Run(t, 0, "index", name)
			commandtest.Contains(t, index, `"url":"`+tc.url+`"`, `"digest":"`)
			commandtest.Contains(t, commandtest.Run(t, 0, "ls", name), tc.url)
			commandtest.Contains(t, commandtest.Run(t, 0, "ls", "--archive", name, "--captures", tc.url), "200")
			commandtest.Contains(t, commandtest.Run(t, 0, "--archive", name, tc.url), tc.want)
			commandtest.Contains(t, commandtest.Run(t, 0, "info", "--archive", name, tc.url), "text/html")
			exported := filepath.Join(dir, "exported")
			commandtest.Run(t, 0, "-s", "export", "--archive", name, exported)
			if files, err := filepath.Glob(filepath.Join(exported, "http", "*", "*.html")); err != nil || len(files) != 1 {
				t.Errorf("exported %q, %v", files, err)
			}
			packed := filepath.Join(t.TempDir(), "x.wacz")
			commandtest.Run(t, 0, "-s", "pack", dir, "--wacz", packed)
			commandtest.Run(t, 0, "-s", "verify", packed)
			commandtest.Contains(t, commandtest.Run(t, 0, "--archive", packed, tc.url), tc.want)
			if tc.name == "x.arc" {
				return
			}
			digests := filepath.Join(dir, "all.cdxj")
			commandtest.Put(t, digests, index)
			commandtest.Run(t, 0, "-s", "mirror", "--warc", "--dedup", digests, "--output-dir", filepath.Join(dir, "mirror"), url)
			files, _ := filepath.Glob(filepath.Join(dir, "mirror", "warc", "*.warc.gz"))
			if len(files) != 1 {
				t.Fatalf("files %q", files)
			}
			commandtest.Contains(t, commandtest.Run(t, 0, "index", files[0]), "warc/revisit")
			commandtest.Contains(t, commandtest.Run(t, 0, "--archive", name, "--archive", files[0], url), tc.want)
		})
	}
}
