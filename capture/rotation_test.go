package capture_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/anyurl/fetch/capture"
	"github.com/anyurl/fetch/internal/wire/mitm"
	"github.com/anyurl/fetch/warc"
)

// TestAge starts a new file for each exchange, because the age is very small.
func TestAge(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	files, err := warc.NewWriter(root, warc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := capture.NewWriter(files, capture.WriterOptions{Age: time.Nanosecond})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path) }))
	defer site.Close()
	p := startProxy(t, nil, func(h *capture.Handler, _ *mitm.Server) { h.Store = w.Store })
	client := p.client(false)
	for i := range 3 {
		resp, err := client.Get(fmt.Sprintf("%s/%d", site.URL, i))
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(root.Name(), "*.warc.gz"))
	if err != nil || len(names) != 3 || w.Counts().Exchanges != 3 {
		t.Errorf("files %q, %+v, %v", names, w.Counts(), err)
	}
	for f, err := range warc.Verify(names...) {
		t.Errorf("verify: %v %v", f, err)
	}
}
