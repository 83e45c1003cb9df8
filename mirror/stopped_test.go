package mirror_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
)

// TestStop closes Options.Stop while a response is under way. The run completes
// this visit, starts no other one, and returns ErrStopped. The next run completes
// the crawl.
func TestStop(t *testing.T) {
	var mu sync.Mutex
	var requested []string
	slow, release := make(chan struct{}), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		requested = append(requested, r.URL.Path)
		first := len(requested) <= 3
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		switch {
		case r.URL.Path == "/":
			for n := range 20 {
				fmt.Fprintf(w, "<a href=/p%d>p</a>", n)
			}
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case first:
			close(slow)
			<-release
			fallthrough
		default:
			fmt.Fprintf(w, "page %s", r.URL.Path)
		}
	}))
	defer s.Close()
	stop := make(chan struct{})
	monitor := &mirror.Monitor{}
	o := mirror.Options{Dir: t.TempDir(), Tree: true, Seeds: []uri.URI{uri.MustParse(s.URL + "/")}, Client: client(t), PerHost: 1,
		Stop: stop, Monitor: monitor}
	go func() {
		<-slow
		hosts := monitor.Hosts()
		if len(hosts) != 1 || hosts[0].Host != "127.0.0.1" || hosts[0].Active != 1 {
			t.Errorf("active hosts: %+v", hosts)
		}
		close(stop)
		close(release)
	}()
	sum, err := mirror.Run(t.Context(), o)
	if !errors.Is(err, mirror.ErrStopped) || sum.New != 2 || sum.Pending != 19 || len(monitor.Hosts()) != 0 {
		t.Errorf("first run: %+v, %v", sum, err)
	}
	o.Stop = nil
	if sum, err = mirror.Run(t.Context(), o); err != nil || sum.Pending != 0 || sum.Run != 1 {
		t.Errorf("second run: %+v, %v", sum, err)
	}
	pages := slices.DeleteFunc(requested, func(path string) bool { return !strings.HasPrefix(path, "/p") })
	if len(pages) != 20 {
		t.Errorf("%d requests for 20 pages: %q", len(pages), pages)
	}
	closed := make(chan struct{})
	close(closed)
	o.Stop, o.Dir = closed, t.TempDir()
	if sum, err = mirror.Run(t.Context(), o); !errors.Is(err, mirror.ErrStopped) || sum.New != 0 {
		t.Errorf("stopped before the start: %+v, %v", sum, err)
	}
}
