package download_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
)

// TestETagOfTruncatedBody checks that --etag-save stores the ETag of complete
// objects only. Otherwise, --etag-compare would skip an object that has no file.
func TestETagOfTruncatedBody(t *testing.T) {
	for _, flags := range []string{"-o DIR/file", "-C - -o DIR/file"} {
		requests := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"v1"`)
			if requests++; requests == 1 {
				w.Header().Set("Content-Length", "10")
				w.Write([]byte("01234"))
				return
			}
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader("0123456789"))
		}))
		dir := t.TempDir()
		args := append(strings.Fields(strings.ReplaceAll(flags, "DIR", dir)), "-q", "--retry", "0",
			"--etag-save", dir+"/tag", "--etag-compare", dir+"/tag", s.URL)
		for i, c := range []struct {
			code int
			want string
		}{{11, ""}, {0, "file=0123456789 tag=\"v1\"\n"}, {0, "file=0123456789 tag=\"v1\"\n"}} {
			var stderr bytes.Buffer
			code := app.Run(args, strings.NewReader(""), &bytes.Buffer{}, &stderr)
			if got := contents(t, dir); code != c.code || got != c.want && c.want != "" || strings.Contains(got, "tag=") != (c.want != "") {
				t.Errorf("%s, run %d: exit code %d, %q: %s", flags, i+1, code, got, &stderr)
			}
		}
		if s.Close(); requests != 3 {
			t.Errorf("%s: %d requests", flags, requests)
		}
	}
}
