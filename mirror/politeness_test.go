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
	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
	"github.com/anyurl/fetch/wrap"
)

// TestRobotsTxt checks that Run obeys robots.txt with a Client that has no
// middlewares, and that Options choose the product token or ignore the file.
func TestRobotsTxt(t *testing.T) {
	t.Parallel()
	site := webSite{
		"/":   `<a href=no><a href=other><a rel=nofollow href=marked>`,
		"/no": "", "/other": `<meta name=robots content="noindex, nofollow"><a href=hidden>`, "/marked": "", "/hidden": "",
		"/robots.txt": "User-agent: *\nDisallow: /no\n\nUser-agent: other\nDisallow: /other\n",
	}
	for _, c := range []struct {
		name   string
		change func(*mirror.Options)
		want   string
		marked int64 // number of links that nofollow omits
	}{
		{"default", func(*mirror.Options) {}, "/ /marked /other", 1},
		{"product token", func(o *mirror.Options) { o.Agent = "other" }, "/ /marked /no", 0},
		{"nofollow of links", func(o *mirror.Options) { o.NoFollow = mirror.ObeyLinks }, "/ /other", 2},
		{"nofollow ignored", func(o *mirror.Options) { o.NoFollow = mirror.FollowAll }, "/ /hidden /marked /other", 0},
		{"ignored", func(o *mirror.Options) { o.IgnoreRobots = true }, "/ /hidden /marked /no /other", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				w.web("a.example", site)
				o := w.options("http://a.example/")
				c.change(&o)
				sum := run(t, o)
				if got := strings.ReplaceAll(w.requests(), "http://a.example/", "/"); got != c.want {
					t.Errorf("requests for %s, want %s", got, c.want)
				}
				if got := sum.NoFollow; got != c.marked {
					t.Errorf("%d links not followed, want %d", got, c.marked)
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
			short.Sample(t, 2)
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

// TestRobotsTxtOnce checks that a run requests the robots.txt of an origin once,
// for typed URLs, for links and for the archived copy, and that further runs
// within 24 hours do not request it. The WARC files contain each response. A
// status of 4xx allows all requests and is not a failure.
func TestRobotsTxtOnce(t *testing.T) {
	t.Parallel()
	const rules = "User-agent: *\nDisallow: /no\nSitemap: /map.xml\n"
	for _, c := range []struct {
		name   string
		status int
		body   string
		change func(*mirror.Options)
		pages  string // requested pages of b.example
		state  string // of the robots.txt of b.example
	}{
		{"rules", 200, rules, func(*mirror.Options) {}, "/ /map.xml /x /y", "done"},
		{"rules, no WARC files", 200, rules, func(o *mirror.Options) { o.WARC = nil }, "/ /map.xml /x /y", "done"},
		{"rules that are longer than the limit", 200, rules + strings.Repeat("#\n", 300<<10), func(*mirror.Options) {}, "/ /map.xml /x /y", "done"},
		{"robots.txt is a seed", 200, rules, func(o *mirror.Options) {
			o.Seeds = append([]uri.URI{uri.MustParse("http://b.example/robots.txt")}, o.Seeds...)
		}, "/ /map.xml /x /y", "done"},
		{"rules are requested again", 200, rules, func(o *mirror.Options) { o.Recheck = true }, "/ /map.xml /x /y", "done"},
		{"nothing obeys the rules", 200, rules, func(o *mirror.Options) { o.IgnoreRobots = true }, "/ /map.xml /no /x /y", "done"},
		{"redirect", 301, "/rules", func(*mirror.Options) {}, "/ /no /rules /rules /x /y", "done"},
		{"401", 401, rules, func(*mirror.Options) {}, "/ /no /x /y", "excluded"},
		{"403", 403, rules, func(*mirror.Options) {}, "/ /no /x /y", "excluded"},
		{"404", 404, rules, func(*mirror.Options) {}, "/ /no /x /y", "excluded"},
		{"410", 410, rules, func(*mirror.Options) {}, "/ /no /x /y", "excluded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			short.Sample(t, 6)
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				requests, at := 0, time.Time{}
				w.web("a.example", webSite{"/": `<a href="http://b.example/y"><a href="http://b.example/no">`, "/robots.txt": ""})
				w.web("b.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
					if r.URL.Path != "/robots.txt" {
						out.Header().Set("Content-Type", mediaOf(r.URL.Path))
						return
					}
					if requests++; c.status == 301 {
						out.Header().Set("Location", c.body)
					}
					at = time.Now()
					out.WriteHeader(c.status)
					io.WriteString(out, c.body)
				}))
				o := w.options("http://b.example/", "http://b.example/x", "http://a.example/")
				o.Delay = 5 * time.Second
				c.change(&o)
				want := []int{1, 0, 1, 0}
				tooLong := len(c.body) > 500<<10 // to be shared
				switch {
				case tooLong:
					want = []int{2, 0, 2, 0}
				case strings.HasSuffix(c.name, "seed"), strings.HasSuffix(c.name, "requested again"):
					want = []int{1, 1, 1, 1}
				}
				for nth, wait := range []time.Duration{0, time.Minute, 24 * time.Hour, time.Hour} {
					time.Sleep(wait)
					requests = 0
					sum := run(t, o)
					got := strings.ReplaceAll(strings.ReplaceAll(w.requests(), "http://a.example/ ", ""), "http://b.example", "")
					if got != c.pages || requests != want[nth] || sum.Failed != 0 {
						t.Errorf("run %d: %d requests for robots.txt, want %d, requests for %q, want %q, %+v", nth+1, requests,
							want[nth], got, c.pages, sum)
					}
					if e := outcome(t, o.Dir, "http://b.example/robots.txt"); e.State != c.state || e.Run != int64(nth+1) {
						t.Errorf("run %d: got %+v, want %s", nth+1, e, c.state)
					}
				}
				checkVerify(t, o.Dir)
				if o.WARC != nil && !tooLong {
					checkRobotsRecords(t, o.Dir, c.status, at)
				}
			})
		})
	}
}

// TestRobotsTxtTruncated checks that the status of a truncated error page or
// redirect for robots.txt applies, and that a truncated file forbids all
// requests.
func TestRobotsTxtTruncated(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{200: "", 301: "/ /rules", 403: "/"} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/robots.txt" {
						out.Header().Set("Location", "/rules")
						out.Header().Set("Content-Length", "700")
						out.WriteHeader(status)
						out.(http.Flusher).Flush()
						panic(http.ErrAbortHandler)
					}
				}))
				o := w.options("http://a.example/")
				sum := run(t, o)
				if got := strings.ReplaceAll(w.requests(), "http://a.example", ""); got != want || status == 403 && sum.Failed != 0 {
					t.Errorf("requests for %q, want %q, %+v", got, want, sum)
				}
			})
		})
	}
}

// checkRobotsRecords checks that the newest exchange for the robots.txt of
// b.example is recorded with its status, its headers and its time.
func checkRobotsRecords(t *testing.T, dir string, status int, at time.Time) {
	t.Helper()
	last, dates := map[warc.Type]string{}, map[warc.Type]time.Time{}
	heads, blocks := records(t, dir)
	for i, h := range heads {
		if h.Target() != "http://b.example/robots.txt" {
			continue
		}
		typ := h.Type()
		if typ == warc.Revisit {
			typ = warc.Response
		}
		last[typ] = blocks[i]
		date, err := time.Parse(time.RFC3339, h.Get("WARC-Date"))
		if err != nil {
			t.Error(err)
		}
		dates[typ] = date
	}
	for typ, date := range dates {
		if date.Sub(at).Abs() > 6*time.Second { // a visit starts with a pause
			t.Errorf("%s record of %v, want %v", typ, date, at)
		}
	}
	if got, want := last[warc.Response], fmt.Sprintf("HTTP/1.1 %d ", status); !strings.HasPrefix(got, want) {
		t.Errorf("response record starts with %.20q, want %q", got, want)
	}
	if got := last[warc.Request]; !strings.HasPrefix(got, "GET /robots.txt HTTP/1.1\r\n") {
		t.Errorf("request record starts with %.30q", got)
	}
}
