package download_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
)

// TestSkipProposedName checks that --skip-existing skips a URL if the file whose
// name the server sends exists.
func TestSkipProposedName(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="name"`)
		w.Write([]byte("new"))
	}))
	defer s.Close()
	for _, c := range []struct {
		flags string
		code  int
	}{{"-O -J", 3}, {"-O -J --skip-existing", 0}} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "name"), []byte("old"), 0o666); err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		code := app.Run(append(strings.Fields(c.flags), "-q", "--output-dir", dir, s.URL+"/x"), strings.NewReader(""), &bytes.Buffer{}, &stderr)
		if got := contents(t, dir); code != c.code || got != "name=old" {
			t.Errorf("%s: exit code %d, %q: %s", c.flags, code, got, &stderr)
		}
	}
}

// TestParallelHeaders checks that the file of -D has the headers of all responses
// with -Z, and none of an earlier command.
func TestParallelHeaders(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "headers")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Path", r.URL.Path)
		for range 500 { // the first URL waits for the header of the second one
			if text, _ := os.ReadFile(file); r.URL.Path != "/first" || bytes.Contains(text, []byte("/second")) {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}))
	defer s.Close()
	if err := os.WriteFile(file, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	args := []string{"-q", "-Z", "--output-dir", dir, "-D", file, s.URL + "/first", s.URL + "/second"}
	code := app.Run(args, strings.NewReader(""), &bytes.Buffer{}, &stderr)
	text, err := os.ReadFile(file)
	if err != nil || code != 0 || !bytes.Contains(text, []byte("/first")) || !bytes.Contains(text, []byte("/second")) || bytes.Contains(text, []byte("old")) {
		t.Errorf("exit code %d, %q, %v: %s", code, text, err, &stderr)
	}
}
