package replay

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// TestLongHosts requests a script that imports URLs with long hosts. The Site must
// not keep them in memory.
func TestLongHosts(t *testing.T) {
	const hosts, size = 16, 200 << 10
	var script strings.Builder
	for i := range hosts {
		fmt.Fprintf(&script, "import \"http://%s%d.example/x\";\n", strings.Repeat("a", size), i)
	}
	s := newSite(t, testAddress, Archive{"a", openSamples(t, sample{"20240101", "https://a.example/a.js", ok("text/javascript", script.String())})})
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	w := get(s, "GET", origin+"/a.js", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Dest: script")
	if text := w.Body.String(); w.Code != http.StatusOK || text != script.String() {
		t.Errorf("status %d, %d bytes, want %d unchanged ones", w.Code, len(text), script.Len())
	}
	w = nil
	if used := int64(heap()) - int64(before); used > hosts*size/4 {
		t.Errorf("%d KiB of memory for %d hosts remain", used>>10, hosts)
	}
	runtime.KeepAlive(s)
}

// A stalledWriter is the response to a client that reads nothing until the channel
// is closed.
type stalledWriter struct {
	http.ResponseWriter
	stall <-chan struct{}
	once  sync.Once
	began func()
}

func (w *stalledWriter) Write(p []byte) (int, error) {
	w.once.Do(w.began)
	<-w.stall
	return w.ResponseWriter.Write(p)
}

// TestTexts requests pages, scripts and workers for clients that read nothing. Only
// some of the requests may have their texts in memory.
func TestTexts(t *testing.T) {
	source := openSamples(t, sample{"20240101", "https://a.example/", ok("text/html", "<script></script>")},
		sample{"20240101", "https://a.example/a.js", ok("text/javascript", "1")})
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, testAddress, Archive{"a", source})
		stall := make(chan struct{})
		var mu sync.Mutex
		began, ended := 0, 0
		count := func(n *int) {
			mu.Lock()
			defer mu.Unlock()
			*n++
		}
		const clients = 6 * maxTexts
		for i := range clients {
			path, dest := "/a.js", "script"
			switch i % 3 {
			case 1:
				dest = "worker"
			case 2:
				path, dest = "/", "iframe"
			}
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
			r.Host, r.RequestURI = strings.TrimPrefix(origin, "http://"), path
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			r.Header.Set("Sec-Fetch-Dest", dest)
			go func() {
				defer count(&ended)
				s.ServeHTTP(&stalledWriter{ResponseWriter: httptest.NewRecorder(), stall: stall, began: func() { count(&began) }}, r)
			}()
		}
		synctest.Wait()
		if began != 2*maxTexts { // pages and scripts
			t.Errorf("%d requests have a text in memory, want %d", began, 2*maxTexts)
		}
		close(stall)
		synctest.Wait()
		if ended != clients {
			t.Errorf("%d of %d requests ended", ended, clients)
		}
	})
}
