package mirror_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/wrap"
)

// TestRobotsTxt checks that Run obeys robots.txt with a Client that has no
// middlewares, and that Options choose the product token or ignore the file.
func TestRobotsTxt(t *testing.T) {
	t.Parallel()
	site := webSite{
		"/": `<a href=no><a href=other><a rel=nofollow href=marked>`, "/no": "", "/other": "", "/marked": "",
		"/robots.txt": "User-agent: *\nDisallow: /no\n\nUser-agent: other\nDisallow: /other\n",
	}
	for _, c := range []struct {
		name   string
		change func(*mirror.Options)
		want   string
	}{
		{"default", func(*mirror.Options) {}, "/ /other"},
		{"product token", func(o *mirror.Options) { o.Agent = "other" }, "/ /no"},
		{"ignored", func(o *mirror.Options) { o.IgnoreRobots = true }, "/ /marked /no /other"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				w.web("a.example", site)
				o := w.options("http://a.example/")
				c.change(&o)
				run(t, o)
				if got := strings.ReplaceAll(w.requests(), "http://a.example/", "/"); got != c.want {
					t.Errorf("requests for %s, want %s", got, c.want)
				}
			})
		})
	}
}

// TestDelay checks the time between the starts of two requests to one host.
func TestDelay(t *testing.T) {
	t.Parallel()
	polite := func(o wrap.PoliteOptions) []fetch.Middleware { return []fetch.Middleware{wrap.Polite(o)} }
	for _, c := range []struct {
		name   string
		addr   string // also the host of the URL, if it is not empty
		robots string
		delay  time.Duration
		wrap   []fetch.Middleware
		want   time.Duration
	}{
		{"default, public host", "", "", 0, nil, time.Second},
		{"default, loopback address", "127.0.0.1", "", 0, nil, 0},
		{"default, private address", "10.0.0.1", "", 0, nil, 0},
		{"none, public host", "", "", -1, nil, 0},
		{"longer, public host", "", "", 5 * time.Second, nil, 5 * time.Second},
		{"longer, loopback address", "127.0.0.1", "", 5 * time.Second, nil, 5 * time.Second},
		{"Crawl-delay", "", "User-agent: *\nCrawl-delay: 3\n", 0, nil, 3 * time.Second},
		{"Crawl-delay, loopback address", "127.0.0.1", "User-agent: *\nCrawl-delay: 3\n", 0, nil, 3 * time.Second},
		{"Crawl-delay, no other delay", "", "User-agent: *\nCrawl-delay: 3\n", -1, nil, 3 * time.Second},
		{"shorter delay of the client", "", "", 0, polite(wrap.PoliteOptions{Delay: time.Second / 2}), time.Second},
		{"longer delay of the client", "", "", 0, polite(wrap.PoliteOptions{Delay: 2 * time.Second}), 2 * time.Second},
		{"Crawl-delay, robots.txt in the client too", "", "User-agent: *\nCrawl-delay: 3\n", 0, polite(wrap.PoliteOptions{Rule: wrap.Robots("fetch")}), 3 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				site := webSite{"/": "", "/robots.txt": c.robots}
				for i := range 6 {
					site["/"] += fmt.Sprintf("<a href=%d>", i)
					site[fmt.Sprintf("/%d", i)] = ""
				}
				host := "a.example"
				if w.wrap = c.wrap; c.addr != "" {
					host = c.addr
					w.web(host, site, c.addr)
				} else {
					w.web(host, site)
				}
				o := w.options("http://" + host + "/")
				o.Delay = c.delay
				run(t, o)
				shortest := time.Hour
				for i, at := range w.requestTimes[1:] {
					// Each connection takes 1ms.
					shortest = min(shortest, (at - w.requestTimes[i]).Round(10*time.Millisecond))
				}
				if len(w.requestTimes) != 7 || shortest != c.want {
					t.Errorf("requests at %v: %v between two of them, want %v", w.requestTimes, shortest, c.want)
				}
			})
		})
	}
}

// TestDelayOfRetry checks that the delay also applies to a request that a
// middleware of the Client retries.
func TestDelayOfRetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		n := 0
		w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/robots.txt":
				io.WriteString(out, "User-agent: *\nCrawl-delay: 20\n")
			case n == 0:
				n++
				http.Error(out, "busy", http.StatusBadGateway)
			}
		}))
		w.wrap = []fetch.Middleware{wrap.Retry(wrap.RetryOptions{Attempts: 2, Delay: time.Millisecond})}
		run(t, w.options("http://a.example/"))
		if len(w.requestTimes) != 2 || (w.requestTimes[1]-w.requestTimes[0]).Round(time.Second) != 20*time.Second {
			t.Errorf("requests at %v, want two within 20s", w.requestTimes)
		}
	})
}
