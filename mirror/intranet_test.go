package mirror_test

import (
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestIntranet checks that the address of a host decides how many connections
// and which pause it gets, also if the URL has a name.
func TestIntranet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, addr, robots string
		most               int32         // requests at the same time
		longest            time.Duration // of the run
	}{
		{"private address", "10.0.0.5", "", 4, 2 * time.Second},
		{"unique local address", "fd00::5", "", 4, 2 * time.Second},
		{"this machine", "127.0.0.1", "", 4, 2 * time.Second},
		{"private address, Crawl-delay", "10.0.0.5", "User-agent: *\nCrawl-delay: 2\n", 4, 50 * time.Second},
		{"public address", "93.184.216.34", "", 1, 30 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				var active, most atomic.Int32
				w.web("wiki.corp.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
					n := active.Add(1)
					most.Store(max(most.Load(), n))
					defer active.Add(-1)
					time.Sleep(20 * time.Millisecond)
					switch r.URL.Path {
					case "/robots.txt":
						io.WriteString(out, c.robots)
					case "/":
						out.Header().Set("Content-Type", "text/html")
						for n := range 20 {
							fmt.Fprintf(out, "<a href=/%d.txt>", n)
						}
					}
				}), c.addr)
				o := w.options("http://wiki.corp.example/")
				o.PerHost, o.Delay = 0, 0
				start := time.Now()
				sum := run(t, o)
				took := time.Since(start)
				if sum.Failed > 0 || took > c.longest || took < 18*time.Second != (c.longest < 18*time.Second) {
					t.Errorf("took %v: %+v", took, sum)
				}
				if n := most.Load(); c.robots == "" && n != c.most {
					t.Errorf("%d requests at the same time, want %d", n, c.most)
				}
			})
		})
	}
}
