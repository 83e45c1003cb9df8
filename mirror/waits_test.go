package mirror_test

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/internal/base/sqlite"
	"github.com/anyurl/fetch/mirror"
)

// TestReportedWaits checks that pauses are reported at most once a minute, and that
// the Monitor names the host during each of them.
func TestReportedWaits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		oddity string
		pauses []string // values of Retry-After
		want   int      // number of reports
	}{
		{"a short pause", []string{"1"}, 0},
		{"a pause of a few seconds", []string{"6"}, 1},
		{"two pauses in a minute", []string{"20", "20"}, 1},
		{"a long pause soon after a short one", []string{"10", "600"}, 2},
	} {
		t.Run(c.oddity, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				requests := 0
				w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
					if requests++; requests <= len(c.pauses) {
						out.Header().Set("Retry-After", c.pauses[requests-1])
						out.WriteHeader(http.StatusServiceUnavailable)
					}
				}))
				o := w.options("http://a.example/")
				o.IgnoreRobots, o.Monitor = true, &mirror.Monitor{}
				reports := 0
				o.Event = func(e mirror.Event) {
					if e.State != "waiting" {
						return
					}
					reports++
					wait, ok := o.Monitor.Waiting()
					if !ok || wait.Host != "a.example" || !strings.Contains(e.Note, wait.Until.UTC().Format(time.RFC3339)) {
						t.Errorf("wait %+v, %v, event %q", wait, ok, e.Note)
					}
				}
				if sum := run(t, o); sum.New == 0 || sum.Failed+sum.Pending > 0 || reports != c.want {
					t.Errorf("%d reports, want %d; %+v", reports, c.want, sum)
				}
				if _, ok := o.Monitor.Waiting(); ok {
					t.Error("waiting after the run")
				}
			})
		})
	}
}

// TestClockSetBack stops a run during the pause of a host, sets the clock back by
// a day, and continues the run. It must wait for at most the longest pause, and
// report the wait.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		busy := true
		w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if busy {
				out.Header().Set("Retry-After", "600")
				out.WriteHeader(http.StatusServiceUnavailable)
			}
		}))
		o := w.options("http://a.example/")
		o.IgnoreRobots = true
		var notes []string
		o.Event = func(e mirror.Event) {
			if e.State == "waiting" {
				notes = append(notes, e.Note)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := mirror.Run(ctx, o); err == nil {
			t.Fatal("the first run was not interrupted")
		}
		if len(notes) != 1 || !strings.Contains(notes[0], "a.example") || !strings.Contains(notes[0], time.Now().UTC().Format("2006-01-02T")) {
			t.Errorf("first run: notes %q", notes)
		}
		busy, notes = false, nil
		db, err := sqlite.Open(filepath.Join(o.Dir, "fetch.db"))
		if err != nil {
			t.Fatal(err)
		}
		const day = "86400000000"
		err = db.Script("update host set next = next + " + day + ", due = due + " + day + "; update url set wait = wait + " + day + "; update seal set rows = null")
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if sum := run(t, o); sum.Pending != 0 || sum.New == 0 {
			t.Errorf("second run: %+v", sum)
		}
		if wait := time.Since(began); wait < time.Minute || wait > 11*time.Minute {
			t.Errorf("the second run took %v", wait)
		}
		if len(notes) != 1 {
			t.Errorf("second run: notes %q", notes)
		}
	})
}

// TestCanceledStatistics checks that the statistics of a crawl are available after
// another caller, such as a client of the metrics, has gone.
func TestCanceledStatistics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		o := w.options("http://a.example/")
		o.IgnoreRobots, o.Monitor = true, &mirror.Monitor{}
		w.web("a.example", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			o.Monitor.Crawled(ctx) // fails, unless the statistics are recent
			if n, err := o.Monitor.Crawled(t.Context()); err != nil || n.Workers != 1 {
				t.Errorf("%+v, %v", n, err)
			}
		}))
		run(t, o)
	})
}
