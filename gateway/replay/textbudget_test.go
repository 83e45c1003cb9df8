package replay

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestStoredHosts requests a script that imports URLs with long hosts. The Site
// remembers at most maxStoredBytes bytes of them.
func TestStoredHosts(t *testing.T) {
	const hosts, size = 64, 50 << 10
	var script strings.Builder
	for i := range hosts {
		fmt.Fprintf(&script, "import \"http://%s%d.example/x\";\n", strings.Repeat("a", size), i)
	}
	s := newSite(t, testAddress, Archive{"a", openSamples(t, sample{"20240101", "https://a.example/a.js", ok("text/javascript", script.String())})})
	w := get(s, "GET", origin+"/a.js", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Dest: script")
	stored := 0
	for _, host := range s.hosts.stored {
		stored += len(host)
	}
	if w.Code != http.StatusOK || stored != s.hosts.size || stored > maxStoredBytes || stored < maxStoredBytes-2*size {
		t.Errorf("status %d, %d hosts with %d bytes, counted as %d", w.Code, len(s.hosts.stored), stored, s.hosts.size)
	}
	if text := w.Body.String(); strings.Count(text, "//"+strings.Repeat("a", size)) != hosts-len(s.hosts.stored) {
		t.Error("the URLs of the other hosts have changed")
	}
}

// A stalledWriter is the response to a client that reads nothing until the channel
// is closed.
type stalledWriter struct {
	*httptest.ResponseRecorder
	stall <-chan struct{}
	once  sync.Once
	began func()
}

func (w *stalledWriter) Write(p []byte) (int, error) {
	w.once.Do(w.began)
	<-w.stall
	return w.ResponseRecorder.Write(p)
}

// TestTexts requests large pages, scripts and workers for clients that read
// nothing. Only some of the requests may have their texts in memory. The others
// fail, and small texts are served meanwhile.
func TestTexts(t *testing.T) {
	large := strings.Repeat("x", maxModule-100)
	source := openSamples(t, sample{"20240101", "https://a.example/", ok("text/html", large)}, sample{"20240101", "https://a.example/a.js", ok("text/javascript", large)},
		sample{"20240101", "https://a.example/b.js", ok("text/javascript", "1")})
	synctest.Test(t, func(t *testing.T) {
		const limit, clients = 3, 6 // texts in memory, and requests for large texts
		s := newSite(t, testAddress, Archive{"a", source})
		s.texts = newTextBudget(limit*maxModule + 10)
		var mu sync.Mutex
		stalled, ended := 0, map[int]int{}
		request := func(path, dest string, stall <-chan struct{}) {
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
			r.Host, r.RequestURI = strings.TrimPrefix(origin, "http://"), path
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			r.Header.Set("Sec-Fetch-Dest", dest)
			w := &stalledWriter{ResponseRecorder: httptest.NewRecorder(), stall: stall, began: func() {
				mu.Lock()
				defer mu.Unlock()
				stalled++
			}}
			s.ServeHTTP(w, r)
			mu.Lock()
			defer mu.Unlock()
			ended[w.Code]++
		}
		stall, open := make(chan struct{}), make(chan struct{})
		close(open)
		for i := range clients {
			path, dest := "/a.js", "script"
			switch i % 3 {
			case 1:
				dest = "worker"
			case 2:
				path, dest = "/", "iframe"
			}
			go request(path, dest, stall)
		}
		synctest.Wait()
		if stalled != limit || len(s.texts.places) > 0 {
			t.Errorf("%d texts in memory, %d places, want %d and 0", stalled, len(s.texts.places), limit)
		}
		request("/b.js", "script", open)
		if ended[http.StatusOK] != 1 || len(ended) != 1 {
			t.Errorf("a small script: %v", ended)
		}
		time.Sleep(textWait + 1)
		synctest.Wait()
		close(stall)
		synctest.Wait()
		request("/a.js", "script", open)
		if ended[http.StatusOK] != limit+2 || ended[http.StatusServiceUnavailable] != clients-limit || s.texts.free != limit*maxModule+10 {
			t.Errorf("%v, %d bytes are free", ended, s.texts.free)
		}
	})
}
