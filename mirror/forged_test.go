package mirror_test

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// TestForgedScheme checks that a row of the database does not count as entered by
// the user if it names another service on the host and the port of a seed.
func TestForgedScheme(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"gopher://intra.example:8070/0GET%20/", "dav://intra.example:8070/x", "ftp://intra.example:8070/x", "https://intra.example:8070/x",
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newNetwork(t)
			var mu sync.Mutex
			var lines []string
			at := w.name("intra.example", "10.0.0.5").String() + ":8070"
			w.net.Serve(at, faultnet.Script{faultnet.Do("web", func(c *faultnet.Conn) error {
				line, err := c.ReadLine()
				mu.Lock()
				lines = append(lines, line)
				mu.Unlock()
				if err == nil {
					_, err = io.WriteString(c, "HTTP/1.0 200 OK\r\n\r\nok")
				}
				return err
			})})
			o := w.options("http://intra.example:8070/")
			o.Scope.Reach, o.IgnoreRobots = mirror.Host, true
			plant(t, o.Dir, frontier.Item{Key: frontier.KeyOf(url), URL: url, Host: "intra.example", Meta: []byte(`{}`)})
			run(t, o)
			mu.Lock()
			defer mu.Unlock()
			for _, line := range lines {
				if line = strings.TrimSpace(line); line != "GET / HTTP/1.1" && line != "GET /robots.txt HTTP/1.1" {
					t.Errorf("%s: the server got %q", url, line)
				}
			}
			if len(lines) == 0 {
				t.Error("the seed was not requested")
			}
		})
	}
}

// TestForgedHost checks that a worker does not request a URL under the lease of
// another host. Otherwise several workers could visit a host at the same time.
func TestForgedHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		f, err := newSharedFrontier("sqlite:" + filepath.Join(t.TempDir(), "frontier.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Frontier.Close()
		w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			var rows []frontier.Item
			for path, host := range map[string]string{"x": "b.example", "y": "a.example"} {
				url := "http://a.example/" + path
				rows = append(rows, frontier.Item{Key: frontier.KeyOf(url), URL: url, Host: host, Meta: []byte(`{}`)})
			}
			if _, err := f.Add(t.Context(), rows); err != nil {
				t.Error(err)
			}
			out.Header().Set("Content-Type", "text/html")
			io.WriteString(out, "<a href='http://%61.example/z'>")
		}))
		o := w.options("http://a.example/")
		p := &simulatedProcess{s: &simulation{workers: &workers{partition: make([]time.Time, 1)}}, committed: make(chan struct{})}
		o.Tree, o.IgnoreRobots, o.Frontier, o.Worker = false, true, sharedDatabase{f, p}, "w"
		run(t, o)
		if got := w.requests(); got != "http://a.example/ http://a.example/y http://a.example/z" {
			t.Errorf("requests: %s", got)
		}
	})
}
