package gateway

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestComparisons checks that few comparisons run at the same time, because each
// can need 150 MB of memory.
func TestComparisons(t *testing.T) {
	h := newHandler(t, func(o *Options) {
		o.Archives = []Archive{{Name: "a", Source: openSample(t,
			sample{"20240101", "http://a.example/", "", ok("text/plain", "one\n")},
			sample{"20250101", "http://a.example/", "", ok("text/plain", "two\n")})}}
	})
	compare := func(ctx context.Context) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(ctx, "GET", "/", nil)
		r.Host, r.RequestURI = "localhost:8700", "/archive/a/20240101000000-20250101000000/http://a.example/"
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for range cap(h.compares) {
		h.compares <- struct{}{}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if w := compare(canceled); strings.Contains(w.Body.String(), "two") {
		t.Error("a comparison runs although others use all memory")
	}
	<-h.compares
	for range 2 * cap(h.compares) { // each frees its place
		if w := compare(t.Context()); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "two") {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
	}
}
