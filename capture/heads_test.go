package capture_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/anyurl/fetch/capture"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"

	webscheme "github.com/anyurl/fetch/schemes/http"
)

// TestLongHeads checks the memory for the heads of many responses at the same time,
// whose bodies do not end.
func TestLongHeads(t *testing.T) {
	const requests = 150
	large := strings.Repeat("x", 50_000)
	end := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i := range 4 {
			w.Header().Set("X-"+strconv.Itoa(i), large)
		}
		http.NewResponseController(w).Flush()
		<-end
	}))
	defer s.Close()
	var answered, all sync.WaitGroup
	h := &capture.Handler{
		Client: fetch.New(fetch.Options{Policy: fetch.Typed()}, webscheme.Schemes(webscheme.Options{})...),
		From:   func(*http.Request, uri.URI) (*fetch.Source, error) { return nil, nil },
		Store:  func(_ context.Context, x *capture.Exchange) error { x.Free(); return nil },
	}
	defer h.Client.Close()
	var mu sync.Mutex
	codes := map[int]int{}
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	for range requests {
		answered.Add(1)
		all.Go(func() {
			w := &recorder{done: sync.OnceFunc(answered.Done), header: http.Header{}}
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", s.URL, nil))
			mu.Lock()
			defer mu.Unlock()
			codes[w.code]++
		})
	}
	answered.Wait()
	used := heap() - before
	close(end)
	all.Wait()
	if used > 96<<20 || codes[200] < 20 || codes[200]+codes[413] != requests { // with the buffers of the server
		t.Errorf("%d MiB in use; status codes %v", used>>20, codes)
	}
	t.Logf("%d MiB", used>>20)
}

// A recorder records the status code of a response.
type recorder struct {
	done   func()
	header http.Header
	code   int
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(code int) {
	r.code = code
	r.done()
}

func (r *recorder) Write(p []byte) (int, error) { return len(p), nil }
