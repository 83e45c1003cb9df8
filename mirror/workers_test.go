package mirror

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/anyurl/fetch/fetch"
	schemehttp "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// TestWorkers checks that three workers with one database visit each URL once
// and share the connection limit of a host.
func TestWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("sends hundreds of requests")
	}
	t.Parallel()
	var mu sync.Mutex
	asked, under := map[string]int{}, map[string]int{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.Host+r.URL.Path]++
		if under[r.Host]++; under[r.Host] > 1 {
			t.Errorf("%d concurrent requests to %s", under[r.Host], r.Host)
		}
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/" {
			for i := range 40 {
				fmt.Fprintf(w, "<a href=%d><a href='http://127.0.0.%d:%s/%d'>", i, i%9+1, strings.Split(r.Host, ":")[1], i)
			}
		} else {
			io.WriteString(w, r.Host+r.URL.Path)
		}
		mu.Lock()
		under[r.Host]--
		mu.Unlock()
	}))
	defer s.Close()
	o := Options{Dir: t.TempDir(), Tree: true, WARC: &WARC{}, PerHost: 1, IgnoreRobots: true}
	o.Scope.Reach = Any
	// One listener serves nine hosts.
	o.Client = fetch.New(fetch.Options{Policy: fetch.Typed(), Route: func(to fetch.Target) fetch.Target {
		here, _ := fetch.TargetOf(uri.MustParse(s.URL), 80)
		here.Scheme = to.Scheme
		return here
	}}, schemehttp.Schemes(schemehttp.Options{})...)
	defer o.Client.Close()
	o.Seeds = []uri.URI{uri.MustParse(s.URL + "/")}
	o.setDefaults()
	m, err := newCrawl(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer m.archive.Close()
	if err := m.startRun(t.Context()); err != nil {
		t.Fatal(err)
	}
	var workers sync.WaitGroup
	for n := range 3 {
		workers.Go(func() {
			if err := m.visitPending(t.Context(), fmt.Sprint("worker ", n)); err != nil {
				t.Error(err)
			}
		})
	}
	workers.Wait()
	n := 0
	for u, times := range asked {
		if !strings.HasSuffix(u, "/robots.txt") {
			n++
		}
		if times != 1 {
			t.Errorf("%s was requested %d times", u, times)
		}
	}
	if n < 70 {
		t.Errorf("%d URLs requested", n)
	}
}
