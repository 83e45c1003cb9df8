package screenshotcmd_test

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

func TestMain(m *testing.M) { commandtest.Main(m) }

// writeArchive writes an archive with two captures of a page, and returns its
// path. The script of the page shows the object at /data.
func writeArchive(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	w, err := warc.NewWriter(root, warc.Options{Name: "sample.warc.gz"})
	if err != nil {
		t.Fatal(err)
	}
	for _, year := range []int{2023, 2025} {
		for url, body := range map[string]string{
			"https://page.test/":         fmt.Sprintf("<p>page of %d: <span></span><script>fetch('/data?t=' + Date.now()).then(r => r.text()).then(t => document.querySelector('span').textContent = t)</script>", year),
			"https://page.test/data?t=1": fmt.Sprintf("data of %d", year),
		} {
			c := warc.Capture{URL: uri.MustParse(url), Date: time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)}
			head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n", len(body))
			if _, err := w.Write(c.Response(strings.NewReader(head + body))); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "sample.warc.gz")
}

// TestScreenshot writes a picture, a printed page and a text of an archived page.
func TestScreenshot(t *testing.T) {
	peer.Need(t, "chromium", "chromium")
	peer.NeedRoot(t, "chromium in a network namespace")
	archive := writeArchive(t)
	name := filepath.Join(t.TempDir(), "page.png")
	commandtest.Run(t, 0, "screenshot", "--archive", archive, "-o", name, "https://page.test/")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if picture, err := png.Decode(bytes.NewReader(data)); err != nil || picture.Bounds().Dx() != 1280 {
		t.Errorf("the picture: %v, %v", picture, err)
	}
	for date, want := range map[string]string{"2023": "page of 2023: data of 2023", "2025": "page of 2025: data of 2025"} {
		got := commandtest.Run(t, 0, "screenshot", "--archive", archive, "--at", date, "--as", "text", "https://page.test/#part")
		if strings.TrimSpace(got) != want {
			t.Errorf("--at %s: %q, want %q", date, got, want)
		}
	}
	if got := commandtest.Run(t, 0, "screenshot", "--archive", archive, "--as", "pdf", "https://page.test/"); !strings.HasPrefix(got, "%PDF") {
		t.Errorf("--as pdf: %.20q", got)
	}
}

// TestScreenshotUsage checks the errors that need no browser.
func TestScreenshotUsage(t *testing.T) {
	archive := writeArchive(t)
	for _, c := range []struct {
		name   string
		status int
		args   []string
		want   string
	}{
		{"no URL", 2, []string{"--archive", archive}, "one URL"},
		{"two URLs", 2, []string{"--archive", archive, "https://a.test/", "https://b.test/"}, "one URL"},
		{"no archive", 2, []string{"https://page.test/"}, "--archive"},
		{"other scheme", 2, []string{"--archive", archive, "gopher://page.test/"}, "http and https"},
		{"unknown form", 2, []string{"--archive", archive, "--as", "gif", "https://page.test/"}, "gif"},
		{"no capture", 8, []string{"--archive", archive, "https://page.test/none"}, "no capture"},
	} {
		_, errors := commandtest.RunStderr(t, c.status, append([]string{"screenshot"}, c.args...)...)
		if !strings.Contains(errors, c.want) {
			t.Errorf("%s: %q lacks %q", c.name, errors, c.want)
		}
	}
}
