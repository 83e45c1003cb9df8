package mirror_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/capture/browser"
)

// A heavyBrowser is a fakeBrowser whose page sends many requests and opens many
// links. It measures the memory that is in use at the end of the visit.
type heavyBrowser struct {
	fakeBrowser
	visit func(ctx context.Context, b *fakeBrowser, v *browser.Visit)
	used  int64
}

func (b *heavyBrowser) Visit(ctx context.Context, v *browser.Visit) (*browser.Page, error) {
	b.get(ctx, v.Handler, "GET", v.URL, "", "")
	before := heapInUse()
	b.visit(ctx, &b.fakeBrowser, v)
	b.used = heapInUse() - before
	return &browser.Page{}, nil
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestBrowserMemory checks the memory for the exchanges of a page in a browser,
// whose bodies are stored elsewhere, and for the links that its scripts open.
func TestBrowserMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory")
	}
	const mebibyte = 1 << 20
	large := strings.Repeat("x", 50_000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/heads":
			for i := range 4 {
				w.Header().Set("X-"+strconv.Itoa(i), large)
			}
		case "/fields":
			for i := range 400 {
				w.Header().Set("X"+strconv.Itoa(i), "")
			}
		}
	}))
	t.Cleanup(s.Close)
	for _, test := range []struct {
		name  string
		visit func(ctx context.Context, b *fakeBrowser, v *browser.Visit)
	}{
		{"heads of responses", func(ctx context.Context, b *fakeBrowser, v *browser.Visit) {
			for i := range 400 {
				b.get(ctx, v.Handler, "GET", s.URL+"/heads?"+strconv.Itoa(i), "", v.URL)
			}
		}},
		{"short fields", func(ctx context.Context, b *fakeBrowser, v *browser.Visit) {
			for i := range 2500 {
				b.get(ctx, v.Handler, "GET", s.URL+"/fields?"+strconv.Itoa(i), "", v.URL)
			}
		}},
		{"URLs of requests", func(ctx context.Context, b *fakeBrowser, v *browser.Visit) {
			for i := range 1500 {
				b.get(ctx, v.Handler, "GET", "http://10.255.255.1:22/"+large+strconv.Itoa(i), "", v.URL)
			}
		}},
		{"links", func(_ context.Context, _ *fakeBrowser, v *browser.Visit) {
			for i := range 200 {
				v.Navigate(s.URL+"/"+strings.Repeat("x", mebibyte)+strconv.Itoa(i), true)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := &heavyBrowser{visit: test.visit}
			o := options(t, s.URL+"/")
			o.WARC, o.Browser = nil, b
			run(t, o)
			if b.used > 40*mebibyte {
				t.Errorf("%d MiB are in use", b.used/mebibyte)
			}
			t.Logf("%d KiB", b.used>>10)
		})
	}
}
