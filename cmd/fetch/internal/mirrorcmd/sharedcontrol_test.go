//go:build linux

package mirrorcmd_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// A requestLog records the times of the requests to each host.
type requestLog struct {
	mu    sync.Mutex
	times map[string][]time.Time
}

func (l *requestLog) add(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.times[host] = append(l.times[host], time.Now())
}

// between returns the times of the requests to host between two times.
func (l *requestLog) between(host string, start, end time.Time) (times []time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, at := range l.times[host] {
		if at.After(start) && at.Before(end) {
			times = append(times, at)
		}
	}
	return times
}

// controlTime is the time within which a running crawl obeys a change of the
// settings of a host.
const controlTime = 5 * time.Second

// TestHostControl changes the settings of hosts during a crawl of three workers.
func TestHostControl(t *testing.T) {
	t.Parallel()
	c := newSharedCrawl(t, 6, 300)
	log := requestLog{times: map[string][]time.Time{}}
	c.set(func() { c.onHost = log.add })
	paused, excluded, slow := hostName(c.address(0)), hostName(c.address(1)), hostName(c.address(2))
	control := func(args ...string) string {
		e := commandtest.Exec(t, c.command(append([]string{"frontier"}, args...)...))
		if e.Code != 0 {
			t.Errorf("fetch frontier %v: %v", args, e)
		}
		return strings.TrimSpace(e.Stdout)
	}
	var changed, restored time.Time
	var change atomic.Pointer[time.Time]
	events, done := make(chan func(), 2), make(chan struct{})
	c.onRequest(func(served int) {
		if served > 600 {
			<-done // or the crawl could end before the commands
		}
		at := change.Load()
		switch {
		case served == 100:
			events <- func() {
				defer close(done)
				control("pause", paused)
				if n := control("exclude", excluded); n == "0" {
					t.Error("no URL was excluded")
				}
				control("rate", slow, "500ms")
				changed = time.Now()
				change.Store(&changed)
			}
		case at != nil && time.Since(*at) > controlTime+3*time.Second && change.CompareAndSwap(at, nil):
			events <- func() {
				restored = time.Now()
				control("rate", slow, "default")
			}
		}
	})
	c.run(events, func(w *sharedWorker, out string, err error) {
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 10 || !strings.Contains(out, "paused hosts") {
			t.Errorf("worker %s: %v, %s; want exit code 10", w.name, err, out)
		}
	})
	late := changed.Add(controlTime)
	for _, stopped := range []string{paused, excluded} {
		if n := len(log.between(stopped, late, time.Now())); n > 0 {
			t.Errorf("%d requests to %s later than %v after its pause or exclusion", n, stopped, controlTime)
		}
		if len(log.between(stopped, time.Time{}, late)) == 0 {
			t.Errorf("%s had no request before its pause or exclusion", stopped)
		}
	}
	slowed := log.between(slow, late, restored)
	if len(slowed) < 2 {
		t.Errorf("%d requests to %s after the change of its delay", len(slowed), slow)
	}
	// The delay was 20 ms and is 500 ms. Single gaps may be shorter, because a
	// busy machine can serve a request late. Two requests may be late at the
	// start, one for each delay.
	if limit := int(restored.Sub(late)/(500*time.Millisecond)) + 2; len(slowed) > limit {
		t.Errorf("%d requests to %s within %v, want at most %d", len(slowed), slow, restored.Sub(late), limit)
	}
	if status := control("status"); !strings.Contains(status, `"paused": 1`) || strings.Count(status, `"excluded": true`) != 1 {
		t.Errorf("status: %s", status)
	}

	control("resume", paused)
	control("requeue", "--state", "excluded")
	c.run(nil, func(w *sharedWorker, out string, err error) {
		if err != nil {
			t.Errorf("worker %s after the pause: %v: %s", w.name, err, out)
		}
	})
	c.checkPoliteness(t)
	c.check(t)
}

func hostName(address string) string {
	name, _, _ := strings.Cut(address, ":")
	return name
}

// TestSharedLimits checks that limits count for all workers of a crawl, and that
// a worker that starts after the end of the crawl visits nothing.
func TestSharedLimits(t *testing.T) {
	for _, c := range []struct {
		flag     string
		min, max int // number of pages that the crawl visits
		exit     int
	}{
		{"--max-files=200", 200, 400, 10}, // each worker learns the numbers of the others after some time
		{"--max-per-host=10", 60, 60, 0},  // exact, because one worker visits a host
		{"--run-time=1", 1, 599, 10},
	} {
		t.Run(c.flag, func(t *testing.T) {
			crawl := newSharedCrawl(t, 6, 100)
			crawl.flags = []string{c.flag}
			visit := func() (pages int) {
				crawl.run(nil, func(w *sharedWorker, out string, err error) {
					code := 0
					var exit *exec.ExitError
					if errors.As(err, &exit) {
						code = exit.ExitCode()
					}
					if code != c.exit {
						t.Errorf("worker %s: %v, %s; want exit code %d", w.name, err, out, c.exit)
					}
				})
				visits := crawl.record().visits
				for host := range crawl.hosts {
					for page := range crawl.pages {
						pages += visits[crawl.url(host, page)]
					}
				}
				return pages
			}
			pages := visit()
			if pages < c.min || pages > c.max {
				t.Errorf("%d pages were visited, want %d to %d", pages, c.min, c.max)
			}
			if again := visit(); again != pages {
				t.Errorf("%d pages were visited after the end of the crawl", again-pages)
			}
		})
	}
}

// TestChangedLimits changes a limit of a running crawl. All workers must end. After
// the limit is removed or raised, they must continue.
func TestChangedLimits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ flag, reached, raised string }{
		{"--max-files", "1", "300"},
		{"--run-time", "0.1", "3600"},
	} {
		t.Run(test.flag, func(t *testing.T) {
			t.Parallel()
			c := newSharedCrawl(t, 2, 800)
			log := requestLog{times: map[string][]time.Time{}}
			c.set(func() { c.onHost = log.add })
			limit := func(value string) {
				if e := commandtest.Exec(t, c.command("frontier", "limit", test.flag, value)); e.Code != 0 {
					t.Errorf("limit: %v", e)
				}
			}
			var changed time.Time
			events := c.eventAt(50, func() {
				limit(test.reached)
				changed = time.Now()
			})
			atLimit := func(w *sharedWorker, out string, err error) {
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.ExitCode() != 10 || !strings.Contains(out, "a limit of the mirror is reached") {
					t.Errorf("worker %s: %v, %s; want exit code 10", w.name, err, out)
				}
			}
			if c.run(events, atLimit) != 1 {
				t.Fatal("the limit was not changed")
			}
			for host := range c.hosts {
				if n := len(log.between(hostName(c.address(host)), changed.Add(controlTime), time.Now())); n > 0 {
					t.Errorf("%d requests later than %v after the change", n, controlTime)
				}
			}
			served := c.record().served
			limit(test.raised)
			events = c.eventAt(served+50, func() { limit(test.reached) })
			if c.run(events, atLimit) != 1 {
				t.Errorf("%d requests after the limit was raised", c.record().served-served)
			}
		})
	}
}

// TestCrawlDelay checks that the Crawl-delay of a host applies to the first
// request after a crash, which precedes the robots.txt of the new process.
func TestCrawlDelay(t *testing.T) {
	t.Parallel()
	c := newSharedCrawl(t, 1, 6)
	const delay = time.Second
	c.workers = c.workers[:1]
	var times []time.Time // only used under the lock of the site
	c.set(func() {
		c.robots = "User-agent: *\nCrawl-delay: 1\n"
		c.onHost = func(string) { times = append(times, time.Now()) }
	})
	if killed := c.run(c.eventAt(4, c.workers[0].kill), func(w *sharedWorker, out string, err error) {
		if err != nil {
			t.Errorf("worker %s: %v: %s", w.name, err, out)
		}
	}); killed != 1 {
		t.Error("the worker was not killed")
	}
	c.set(func() {
		for i := 2; i < len(times); i++ { // the first request is for robots.txt
			if gap := times[i].Sub(times[i-1]); gap < delay/2 { // a busy machine can serve a request late
				t.Errorf("requests %d and %d are %v apart", i, i+1, gap)
			}
		}
	})
	c.check(t)
}

// TestHostControlOfArchive changes the settings of a host during the run of an
// archive with its own frontier.
func TestHostControlOfArchive(t *testing.T) {
	t.Parallel()
	s, fetch, dir := newSharedSite(t, 2, 300), commandtest.Fetch(t), filepath.Join(t.TempDir(), "archive")
	mirror := func() commandtest.Result {
		return commandtest.Exec(t, exec.Command(fetch, "mirror", "--no-config", "--silent", "--output-dir", dir, "--delay", "0.02", "--per-host", "1",
			"--scope", "host", s.url(0, 0), s.url(1, 0)))
	}
	log := requestLog{times: map[string][]time.Time{}}
	s.set(func() { s.onHost = log.add })
	var changed time.Time
	done := make(chan struct{})
	s.onRequest(func(served int) {
		if served > 200 {
			<-done // or the run could end before the command
		}
		if served == 100 {
			go func() {
				defer close(done)
				if e := commandtest.Exec(t, exec.Command(fetch, "frontier", "pause", hostName(s.address(0)), dir)); e.Code != 0 {
					t.Errorf("pause: %v", e)
				}
				changed = time.Now()
			}()
		}
	})
	e := mirror()
	<-done
	if e.Code != 10 {
		t.Errorf("%v; want exit code 10", e)
	}
	if n := len(log.between(hostName(s.address(0)), changed.Add(controlTime), time.Now())); n > 0 {
		t.Errorf("%d requests later than %v after the pause", n, controlTime)
	}
	if e := commandtest.Exec(t, exec.Command(fetch, "frontier", "resume", hostName(s.address(0)), dir)); e.Code != 0 {
		t.Errorf("resume: %v", e)
	}
	if e := mirror(); e.Code != 0 {
		t.Errorf("after the pause: %v", e)
	}
	visits := s.record().visits
	for host := range s.hosts {
		for page := range s.pages {
			if n := visits[s.url(host, page)]; n != 1 {
				t.Errorf("%s was visited %d times", s.url(host, page), n)
			}
		}
	}
}
