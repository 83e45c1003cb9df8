package recordcmd_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// TestDedup records requests twice. The second run writes revisit records for the
// responses that the index of the first run lists, and replays them with both
// files.
func TestDedup(t *testing.T) {
	dir := newDir(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, strings.Repeat(r.Method, 200)) // the same for all bodies
	}))
	defer site.Close()
	post := func(r *recorder, body string) {
		resp, err := r.client(r.token).Post(site.URL+"/api", "application/x-www-form-urlencoded", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if got, err := io.ReadAll(resp.Body); err != nil || string(got) != strings.Repeat("POST", 200) {
			t.Errorf("POST %s: %.20q %v", body, got, err)
		}
	}
	first := start(t, dir, "--warc", "first.warc.gz")
	get(t, first.client(first.token), site.URL+"/page")
	post(first, "q=1")
	if code := first.stop(syscall.SIGTERM); code != 0 {
		t.Fatalf("first run: exit code %d", code)
	}
	one, two := filepath.Join(dir, "first.warc.gz"), filepath.Join(dir, "second.warc.gz")
	commandtest.Put(t, filepath.Join(dir, "first.cdxj"), commandtest.Run(t, 0, "index", one))

	second := start(t, dir, "--warc", "second.warc.gz", "--dedup", "first.cdxj")
	get(t, second.client(second.token), site.URL+"/page")
	post(second, "q=1")
	post(second, "q=2")
	if code := second.stop(syscall.SIGTERM); code != 0 {
		t.Fatalf("second run: exit code %d", code)
	}
	var revisits []string
	for line := range strings.Lines(commandtest.Run(t, 0, "index", two)) {
		if strings.Contains(line, `"mime":"warc/revisit"`) {
			_, path, _ := strings.Cut(line, ")")
			revisits = append(revisits, strings.Fields(path)[0])
		}
	}
	if got := strings.Join(revisits, " "); got != "/api?__wb_method=post&q=1 /page" {
		t.Errorf("revisit records: %s", got)
	}
	if got := commandtest.Run(t, 0, "--archive", one, "--archive", two, site.URL+"/page"); got != strings.Repeat("GET", 200) {
		t.Errorf("replay: %.20q", got)
	}
	commandtest.Run(t, 0, "verify", one, two)
}
