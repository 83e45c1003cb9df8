//go:build linux

package mirrorcmd_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// A metricsCrawl is a mirror that does not end before the test has read its
// metrics, because the page /last waits.
type metricsCrawl struct {
	site     *httptest.Server
	last     chan struct{} // closed when the page /last is requested
	finish   chan struct{} // closed to let the page /last end
	cmd      *exec.Cmd
	messages *bufio.Reader
	address  string
}

// startMetricsCrawl starts a mirror of six URLs. Four of them are pages, one does
// not exist, and one redirects to an invalid URL.
func startMetricsCrawl(t *testing.T, args ...string) *metricsCrawl {
	c := &metricsCrawl{last: make(chan struct{}), finish: make(chan struct{})}
	pages := map[string]string{"/": "<a href=a>a</a><a href=b>b</a><a href=none>n</a><a href=bad>b</a>", "/a": "one", "/b": "<a href=last>l</a>"}
	c.site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch page, ok := pages[r.URL.Path]; {
		case r.URL.Path == "/last":
			close(c.last)
			<-c.finish
		case r.URL.Path == "/bad":
			w.Header()["Location"] = []string{"http://[::bad/"}
			w.WriteHeader(http.StatusFound)
		case !ok:
			http.NotFound(w, r)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, page)
		}
	}))
	t.Cleanup(c.site.Close)
	c.cmd = exec.Command(commandtest.Fetch(t), append([]string{"mirror", "--no-config", "--metrics", "127.0.0.1:0", "--warc", "--no-tree",
		"--output-dir", filepath.Join(t.TempDir(), "archive"), c.site.URL + "/"}, args...)...)
	stderr, err := c.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.messages = bufio.NewReader(stderr)
	line, _ := c.messages.ReadString('\n')
	m := regexp.MustCompile(`the metrics are at (http://[0-9.:]+/metrics)`).FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("the first message is %q", line)
	}
	c.address = m[1]
	return c
}

// scrape returns the metrics.
func (c *metricsCrawl) scrape(t *testing.T) string {
	t.Helper()
	resp, err := http.Get(c.address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s, %v", resp.Status, err)
	}
	return string(body)
}

// TestMetrics reads the metrics of a mirror with and without a shared frontier
// and checks them with the program of Prometheus. The server ends with the
// mirror.
func TestMetrics(t *testing.T) {
	promtool := peer.Need(t, "promtool", "prometheus")
	for _, shared := range []bool{false, true} {
		t.Run(fmt.Sprintf("shared %t", shared), func(t *testing.T) {
			var args []string
			if shared {
				args = []string{"--frontier", fmt.Sprintf("postgres://postgres@%s/postgres?search_path=crawl", peer.Postgres(t, false).Addr)}
			}
			c := startMetricsCrawl(t, args...)
			<-c.last
			var got string
			for !strings.Contains(got, `fetch_crawl_queue_urls 1`) && t.Context().Err() == nil {
				got = c.scrape(t) // until the visits are committed
			}
			for _, line := range []string{
				`fetch_visits_total{outcome="new"} 4`, `fetch_visits_total{outcome="failed"} 1`, `fetch_errors_total{kind="not-found"} 1`,
				`fetch_visits_total{outcome="excluded"} 0`, // robots.txt is missing
				`fetch_crawl_urls{state="dead"} 1`, `fetch_crawl_queue_urls 1`, `fetch_crawl_hosts 1`, `fetch_crawl_workers 1`,
				`fetch_active_hosts 1`, `fetch_frontier_up 1`, `fetch_lost_leases_total 0`, `fetch_crawl_run 1`,
			} {
				if !strings.Contains(got, "\n"+line+"\n") {
					t.Errorf("no line %q", line)
				}
			}
			judge := exec.Command(promtool, "check", "metrics")
			judge.Stdin = strings.NewReader(got)
			if out, err := judge.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("promtool: %v: %s", err, out)
			}
			if t.Failed() {
				t.Log(got)
			}
			close(c.finish)
			rest, _ := io.ReadAll(c.messages)
			if c.cmd.Wait(); c.cmd.ProcessState.ExitCode() != 8 {
				t.Errorf("%v: %s", c.cmd.ProcessState, rest)
			}
			if _, err := http.Get(c.address); err == nil {
				t.Error("the server answers after the end of the mirror")
			}
		})
	}
}

// TestMetricsAddress checks that an unusable address is an error before the
// archive is created.
func TestMetricsAddress(t *testing.T) {
	used := httptest.NewServer(nil)
	defer used.Close()
	for _, row := range []struct {
		address string
		code    int
		message string
	}{
		{":9400", 2, "an IP address is required, such as 127.0.0.1:9400"},
		{"9400", 2, "missing port"},
		{"crawler.example:9400", 2, "not an IP address"},
		{used.Listener.Addr().String(), 3, "address already in use"},
	} {
		dir := filepath.Join(t.TempDir(), "archive")
		e := commandtest.Exec(t, exec.Command(commandtest.Fetch(t), "mirror", "--no-config", "--metrics", row.address, "--output-dir", dir, used.URL))
		if _, err := os.Stat(dir); e.Code != row.code || !strings.Contains(e.Stderr, row.message) || err == nil {
			t.Errorf("%s: %v, folder %v; want the exit code %d and %q", row.address, e, err, row.code, row.message)
		}
	}
}
