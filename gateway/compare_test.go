package gateway

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A discardWriter is a response that is not stored.
type discardWriter struct {
	header http.Header
	status int
}

func (w *discardWriter) Header() http.Header         { return w.header }
func (w *discardWriter) Write(p []byte) (int, error) { return len(p), nil }
func (w *discardWriter) WriteHeader(status int)      { w.status = status }

// TestComparisons requests comparisons of texts with many lines at the same time.
// Each needs 150 MB of memory, so that few may run.
func TestComparisons(t *testing.T) {
	if testing.Short() {
		t.Skip("needs some seconds")
	}
	h := newHandler(t, func(o *Options) {
		o.Archives = []Archive{{Name: "a", Source: openSample(t,
			sample{"20240101", "http://a.example/", "", ok("text/plain", strings.Repeat("\n", maxCompared))},
			sample{"20250101", "http://a.example/", "", ok("text/plain", strings.Repeat("a\n", maxCompared/2))})}}
	})
	before := peak(t)
	var all sync.WaitGroup
	for range 12 {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host, r.RequestURI = "localhost:8700", "/archive/a/20240101000000-20250101000000/http://a.example/"
		all.Go(func() {
			w := &discardWriter{http.Header{}, http.StatusOK}
			if h.ServeHTTP(w, r); w.status != http.StatusOK {
				t.Errorf("status %d", w.status)
			}
		})
	}
	all.Wait()
	if used := peak(t) - before; used > 800<<20 {
		t.Errorf("%d MiB of memory", used>>20)
	}
}

// peak returns the largest amount of memory that the process has used, in bytes.
func peak(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("the system does not report the memory of a process")
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}
