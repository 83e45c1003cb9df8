package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/mirror"
)

// faultySite is a site of ten pages that fails as a test requires.
type faultySite struct {
	webSite
	wrong func(out http.ResponseWriter, r *http.Request, nth int) bool // nth counts the requests for the URL, from 1
	mu    sync.Mutex
	nth   map[string]int
}

func newFaultySite() *faultySite {
	f := &faultySite{webSite: webSite{}, nth: map[string]int{}}
	links := ""
	for i := range 10 {
		f.webSite[fmt.Sprintf("/%d", i)] = strings.Repeat(fmt.Sprintf("page %d\n", i), 100)
		links += fmt.Sprintf("<a href=%d>", i)
	}
	f.webSite["/"] = links
	return f
}

func (f *faultySite) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.nth[r.RequestURI]++
	nth := f.nth[r.RequestURI]
	f.mu.Unlock()
	if f.wrong == nil || !f.wrong(out, r, nth) {
		f.webSite.ServeHTTP(out, r)
	}
}

// status returns a handler that sends a status code for the first n requests
// for path.
func status(path string, n, code int, fields ...string) func(http.ResponseWriter, *http.Request, int) bool {
	return func(out http.ResponseWriter, r *http.Request, nth int) bool {
		if r.RequestURI != path || nth > n {
			return false
		}
		for i := 0; i < len(fields); i += 2 {
			out.Header().Set(fields[i], fields[i+1])
		}
		http.Error(out, "no", code)
		return true
	}
}

// cut returns a handler that sends half of a body for the first n requests for
// path.
func cut(path string, n int) func(http.ResponseWriter, *http.Request, int) bool {
	return func(out http.ResponseWriter, r *http.Request, nth int) bool {
		if r.RequestURI != path || nth > n {
			return false
		}
		out.Header().Set("Content-Length", "700")
		out.Header().Set("Content-Type", "text/html")
		io.WriteString(out, "half")
		out.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// TestFaults checks that each fault is retried or reported, and that the
// archive has no truncated object.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		wrong  func(http.ResponseWriter, *http.Request, int) bool
		state  string // of /3
		asked  int    // number of requests for /3
		others bool   // whether the other pages are retrieved
	}{
		{"no fault", nil, "done", 1, true},
		{"500 once", status("/3", 1, 500), "done", 2, true},
		{"500 always", status("/3", 99, 500), "dead", 3, true},
		{"503 for a minute", status("/3", 1, 503, "Retry-After", "60"), "done", 2, true},
		{"503 always", status("/3", 99, 503), "dead", 3, true},
		{"429 twice", status("/3", 2, 429), "done", 3, true},
		{"403", status("/3", 99, 403), "dead", 1, true},
		{"404", status("/3", 99, 404), "dead", 1, true},
		{"401", status("/3", 99, 401, "WWW-Authenticate", "Basic realm=x"), "dead", 1, true},
		{"truncated body once", cut("/3", 1), "done", 2, true},
		{"truncated body always", cut("/3", 99), "dead", 3, true},
		{"truncated error page", func(out http.ResponseWriter, r *http.Request, nth int) bool {
			if r.RequestURI == "/3" {
				out.Header().Set("Content-Length", "700")
				out.WriteHeader(404)
				out.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}
			return false
		}, "dead", 3, true},
		{"robots.txt disallows", func(out http.ResponseWriter, r *http.Request, nth int) bool {
			if r.RequestURI != "/robots.txt" {
				return false
			}
			io.WriteString(out, "User-agent: *\nDisallow: /3\n")
			return true
		}, "excluded", 0, true},
		{"robots.txt with 500 once", status("/robots.txt", 1, 500), "done", 1, true},
		{"robots.txt with 500 always", status("/robots.txt", 99, 500), "", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			short.Sample(t, 6)
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				f := newFaultySite()
				f.wrong = c.wrong
				w.web("a.example", f)
				o := w.options("http://a.example/")
				sum := run(t, o)
				got := outcomes(t, o.Dir)
				if n := f.nth["/3"]; n != c.asked || !strings.Contains(got, c.state+" http://a.example/3") && c.state != "" {
					t.Errorf("%d requests, want %d and %s\n%s", n, c.asked, c.state, got)
				}
				files := tree(t, o.Dir, "http/a.example")
				for i := range 10 {
					name := fmt.Sprint(i)
					whole := f.webSite["/"+name]
					if i == 3 && c.state != "done" || !c.others {
						whole = ""
					}
					if files[name] != whole {
						t.Errorf("/%s has %d bytes, want %d", name, len(files[name]), len(whole))
					}
				}
				if sum.Pending != 0 {
					t.Errorf("%+v", sum)
				}
				checkVerify(t, o.Dir)
				f.wrong = nil // the next run retrieves the failed page
				run(t, o)
				if got := tree(t, o.Dir, "http/a.example"); got["3"] != f.webSite["/3"] && c.state != "excluded" {
					t.Errorf("the next run: %s", outcomes(t, o.Dir))
				}
				checkVerify(t, o.Dir)
			})
		})
	}
}

// TestRetryAfter checks that a host with a Retry-After header gets no requests
// during that time, while another host does.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		f := newFaultySite()
		f.wrong = status("/3", 1, 503, "Retry-After", "100")
		w.web("a.example", f)
		w.web("b.example", newFaultySite())
		o := w.options("http://a.example/", "http://b.example/")
		o.PerHost = 2
		run(t, o)
		for i, u := range w.requested {
			if at := w.requestTimes[i]; strings.Contains(u, "a.example") && at > 2*time.Second && at < 100*time.Second || strings.Contains(u, "b.example") && at > 2*time.Second {
				t.Errorf("%s at %v", u, at)
			}
		}
		if n := strings.Count(outcomes(t, o.Dir), "done"); n != 22 {
			t.Errorf("%d URLs done", n)
		}
	})
}

// TestUnresponsiveServer checks that the run ends soon after a server stops
// responding. Its pending URLs are no permanent failures, and the next run
// retrieves them.
func TestUnresponsiveServer(t *testing.T) {
	if testing.Short() {
		t.Skip("sends hundreds of requests")
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		site := webSite{"/": ""}
		for i := range 300 {
			site[fmt.Sprintf("/%d", i)] = fmt.Sprint(i)
			site["/"] += fmt.Sprintf("<a href=%d>", i)
		}
		at := w.name("a.example")
		gone := false
		w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/50" && !gone {
				gone = true
				w.fall(at)
				panic(http.ErrAbortHandler)
			}
			site.ServeHTTP(out, r)
		}))
		o := w.options("http://a.example/")
		sum := run(t, o)
		if sum.Failed != 0 || sum.Unreached < 200 || sum.Unreached > 260 || sum.NewlyFailed != sum.Unreached || sum.Pending != 0 || len(w.dialed) > 20 || time.Since(w.started) > time.Minute {
			t.Errorf("%+v, %d dials, %v", sum, len(w.dialed), time.Since(w.started))
		}
		if got := outcomes(t, o.Dir); strings.Contains(got, "dead") {
			t.Errorf("permanent failures after an outage: %s", got)
		}
		checkVerify(t, o.Dir)
		w.rise(at)
		if sum := run(t, o); sum.Failed != 0 || len(tree(t, o.Dir, "")) != 301 {
			t.Errorf("again: %+v", sum)
		}
		checkVerify(t, o.Dir)
	})
}

// TestBusyPages checks that pages which always fail do not prevent other pages
// of their server from being requested in a later run.
func TestBusyPages(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(http.ResponseWriter){
		"503":               func(out http.ResponseWriter) { http.Error(out, "busy", http.StatusServiceUnavailable) },
		"closed connection": func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
	} {
		for _, tries := range []int{0, 1} {
			t.Run(fmt.Sprintf("%s, %d tries", name, tries), func(t *testing.T) {
				short.Sample(t, 6)
				synctest.Test(t, func(t *testing.T) {
					w := newNetwork(t)
					f := newFaultySite()
					f.wrong = func(out http.ResponseWriter, r *http.Request, _ int) bool {
						busy := r.RequestURI >= "/0" && r.RequestURI <= "/5"
						if busy {
							fail(out)
						}
						return busy
					}
					w.web("a.example", f)
					o := w.options("http://a.example/")
					o.Tries = tries
					for range 8 {
						run(t, o)
					}
					if n := len(tree(t, o.Dir, "http/a.example")); n != 5 {
						t.Errorf("%d files, want the first page and /6 to /9:\n%s", n, w.requests())
					}
					checkVerify(t, o.Dir)
				})
			})
		}
	}
}

// TestGoneFile checks the states of an object that is deleted on the server and
// then restored.
func TestGoneFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		f := newFaultySite()
		w.web("a.example", f)
		o := w.options("http://a.example/")
		run(t, o)
		was := f.webSite["/3"]
		delete(f.webSite, "/3")
		if sum := run(t, o); sum.Gone != 1 || !strings.Contains(outcomes(t, o.Dir), "gone http://a.example/3") {
			t.Errorf("%+v\n%s", sum, outcomes(t, o.Dir))
		}
		f.webSite["/3"] = was
		if sum := run(t, o); sum.Gone != 0 || !strings.Contains(outcomes(t, o.Dir), "done http://a.example/3") {
			t.Errorf("restored: %+v\n%s", sum, outcomes(t, o.Dir))
		}
		checkVerify(t, o.Dir)
	})
}

// TestLimits checks that each limit ends the run or excludes objects at the
// exact value, and that a later call completes the mirror.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		limit mirror.Limits
		err   error
		files int
	}{
		{"files", mirror.Limits{Files: 4}, mirror.ErrLimit, 4},
		{"bytes", mirror.Limits{Bytes: 1500}, mirror.ErrLimit, 3},                  // the first page and two of 700 bytes
		{"time", mirror.Limits{Time: 4500 * time.Millisecond}, mirror.ErrLimit, 3}, // with robots.txt once
		{"files per host", mirror.Limits{PerHost: 4}, nil, 4},
		{"size", mirror.Limits{FileSize: 699}, nil, 1},
		{"free space", mirror.Limits{MinFree: 1 << 60}, fetch.DiskFull, 0},
		{"all limits not reached", mirror.Limits{Files: 100, Bytes: 1 << 20, Time: time.Hour, PerHost: 100, FileSize: 700, MinFree: 1}, nil, 11},
	} {
		t.Run(c.name, func(t *testing.T) {
			short.Sample(t, 6)
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				f := newFaultySite()
				f.wrong = func(http.ResponseWriter, *http.Request, int) bool { time.Sleep(time.Second); return false }
				w.web("a.example", f)
				o := w.options("http://a.example/")
				o.Limits = c.limit
				_, err := mirror.Run(t.Context(), o)
				if !errors.Is(err, c.err) {
					t.Errorf("got %v, want %v", err, c.err)
				}
				if n := len(tree(t, o.Dir, "http/a.example")); n != c.files {
					t.Errorf("%d files, want %d\n%s", n, c.files, outcomes(t, o.Dir))
				}
				for f, err := range mirror.Open(mirror.Location{Dir: o.Dir}).Verify(context.Background()) {
					if f.Path != "" && !f.Note || err != nil && (c.err == nil || !errors.Is(err, mirror.ErrIncomplete)) {
						t.Errorf("%v %v", f, err)
					}
				}
				if c.err == nil {
					run(t, o)
					if n := len(tree(t, o.Dir, "http/a.example")); n != c.files {
						t.Errorf("%d files after another run, want %d", n, c.files)
					}
				}
				o.Limits = mirror.Limits{}
				run(t, o)
				if n := len(tree(t, o.Dir, "http/a.example")); n != 11 {
					// The next run retrieves the excluded objects.
					if run(t, o); c.err != nil || len(tree(t, o.Dir, "http/a.example")) != 11 {
						t.Errorf("%d files in the end", n)
					}
				}
				checkVerify(t, o.Dir)
			})
		})
	}
}

// TestStopped checks that an interrupted run leaves a consistent archive, and
// that the next run completes it.
func TestStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("creates dozens of archives")
	}
	t.Parallel()
	for after := 1; after < 13; after++ {
		synctest.Test(t, func(t *testing.T) {
			w := newNetwork(t)
			f := newFaultySite()
			ctx, cancel := context.WithCancel(t.Context())
			n := 0
			f.wrong = func(out http.ResponseWriter, r *http.Request, _ int) bool {
				if n++; n == after {
					cancel()
				}
				return false
			}
			w.web("a.example", f)
			o := w.options("http://a.example/")
			if _, err := mirror.Run(ctx, o); err == nil && ctx.Err() == nil || err != nil && !errors.Is(err, fetch.Canceled) && !errors.Is(err, context.Canceled) {
				t.Errorf("stopped after %d: %v", after, err)
			}
			cancel()
			for f, err := range mirror.Open(mirror.Location{Dir: o.Dir}).Verify(context.Background()) {
				if err != nil && !errors.Is(err, mirror.ErrIncomplete) || f.Path != "" && !f.Note {
					t.Errorf("stopped after %d: %v %v", after, f, err)
				}
			}
			run(t, o)
			if n := len(tree(t, o.Dir, "http/a.example")); n != 11 {
				t.Errorf("stopped after %d: %d files in the end", after, n)
			}
			checkVerify(t, o.Dir)
		})
	}
}
