package importcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/format/har"
)

// browserFiles returns the files in testdata, which browsers have written.
// testdata/README.md describes them.
func browserFiles(t testing.TB, pattern string) []string {
	all, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(all) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	return all
}

// siteURLs are the captures of the page in testdata, without the start of the URL.
var siteURLs = []string{
	" text/html", "api?x=1 application/json", "app.js text/javascript", "bytes application/octet-stream", "dot.png image/png",
	"dot.png?moved image/png", "latin1.html text/html", "missing.png text/plain", "none text/plain", "old.png ", "style.css text/css",
	"utf16 text/plain",
}

// TestBrowserFiles converts files that browsers have written.
func TestBrowserFiles(t *testing.T) {
	for _, name := range browserFiles(t, "*.*") {
		base := filepath.Base(name)
		isHAR := strings.HasSuffix(name, ".har")
		if !isHAR && !strings.HasSuffix(name, ".mhtml") {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		index, skipped, err := convert(t, f, isHAR)
		f.Close()
		if err != nil || len(skipped) > 0 {
			t.Errorf("%s: skipped %v, %v", base, skipped, err)
		}
		want := siteURLs
		if !isHAR { // Chromium stores the page without its scripts and their requests
			want = []string{" text/html", "dot.png image/png", "latin1.html text/html", "old.png image/png", "style.css text/css"}
		}
		var got []string
		for line := range strings.Lines(index) {
			got = append(got, strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "http://127.0.0.1:8765/"))
		}
		got = slices.DeleteFunc(got, func(line string) bool { return line == "favicon.ico text/plain" })
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", base, got, want)
		}
	}
}

// TestBrowserBodies compares the bodies in HAR files of browsers with those that
// the server sent.
func TestBrowserBodies(t *testing.T) {
	binary := ""
	for i := range 256 {
		binary += string([]byte{byte(i)})
	}
	want := map[string]string{
		"style.css":   "h1 { color: #123456; background: url(/dot.png) }\n",
		"latin1.html": "<!doctype html><title>\u00e4</title><p>Gr\u00fc\u00dfe", // in UTF-8
		"utf16":       "wide \u00fc",
		"bytes":       binary,
		"api?x=1":     `{"answer":"naïve"}`,
		"missing.png": "not here\n",
		"old.png":     "",
		"none":        "",
	}
	for _, name := range browserFiles(t, "*.har") {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		im := newImporter(t.Context(), nil, t.TempDir())
		seen := 0
		err = har.Read(f, im.text, func(e *har.Entry) error {
			defer im.free()
			body, known := want[strings.TrimPrefix(e.Request.URL, "http://127.0.0.1:8765/")]
			if !known {
				return nil
			}
			seen++
			if err := im.decodeBody(&e.Response); err != nil {
				return err
			}
			r, err := im.body.Reader()
			if err != nil {
				return err
			}
			got := make([]byte, im.body.Size())
			r.Read(got)
			if string(got) != body || isCut(&e.Response, im.body.Size()) {
				return fmt.Errorf("%s: body %q, want %q", e.Request.URL, got, body)
			}
			return nil
		})
		f.Close()
		if err != nil || seen != len(want) {
			t.Errorf("%s: %d bodies, %v", name, seen, err)
		}
	}
}
