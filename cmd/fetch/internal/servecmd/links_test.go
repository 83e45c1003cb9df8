package servecmd_test

import (
	"bufio"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// TestLinksInArchive checks that a symbolic link in an archive leads to no other
// file of the user: neither to JSON files that the overview page would contain,
// nor to the records of another archive.
func TestLinksInArchive(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "page.txt")
	commandtest.Put(t, page, "private page")
	private, dir := filepath.Join(t.TempDir(), "private"), filepath.Join(t.TempDir(), "foreign")
	commandtest.Run(t, 0, "mirror", "--warc", "--output-dir", private, "file://"+page)
	commandtest.Run(t, 0, "mirror", "--warc", "--output-dir", dir, "file://"+page)
	settings := filepath.Join(t.TempDir(), "settings.json")
	commandtest.Put(t, settings, `{"seeds": 4711, "auths": {"registry": "a secret value"}}`)
	for _, name := range []string{"options.json", "report.json"} {
		if err := errors.Join(os.Remove(filepath.Join(dir, name)), os.Symlink(settings, filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
	}
	if text := overview(t, dir); strings.Contains(text, "a secret value") || strings.Contains(text, "4711") {
		t.Errorf("the page contains a file outside of the archive: %s", text)
	}
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, "warc")), os.Symlink(filepath.Join(private, "warc"), filepath.Join(dir, "warc"))); err != nil {
		t.Fatal(err)
	}
	wacz := filepath.Join(t.TempDir(), "archive.wacz")
	for _, args := range [][]string{{"pack", dir, "--wacz", wacz}, {"ls", "--archive", dir, "--captures", "file://" + page},
		{"export", "--archive", dir, t.TempDir()}, {"serve", "--listen", "127.0.0.1:0", dir}} {
		if _, text := commandtest.RunStderr(t, 3, args...); !strings.Contains(text, "warc is not a folder") {
			t.Errorf("%s: %s", args[0], text)
		}
	}
}

// overview starts fetch serve with an archive and returns the overview page.
func overview(t *testing.T, dir string) string {
	t.Helper()
	c := commandtest.Command("fetch", "serve", "--listen", "127.0.0.1:0", dir)
	stderr, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	var url string
	lines := bufio.NewScanner(stderr)
	for url == "" && lines.Scan() {
		url = regexp.MustCompile(`http://\S+/`).FindString(lines.Text())
	}
	resp, err := http.Get(url + "archive/" + filepath.Base(dir) + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var body strings.Builder
	if err := resp.Write(&body); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v", resp.Status, err)
	}
	return body.String()
}
