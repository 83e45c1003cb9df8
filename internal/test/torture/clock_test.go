package torture

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/savetest"
	webscheme "github.com/anyurl/fetch/schemes/http"
)

const year = 365 * 24 * time.Hour

// clocks returns clocks that the client can have. The servers have the clock of
// the synctest bubble.
func clocks() map[string]func() time.Time {
	back := false
	return map[string]func() time.Time{
		"right":         time.Now,
		"a year ahead":  func() time.Time { return time.Now().Add(year) },
		"a year behind": func() time.Time { return time.Now().Add(-year) },
		"alternating": func() time.Time {
			if back = !back; back {
				return time.Now().Add(-year)
			}
			return time.Now().Add(year)
		},
	}
}

// TestClockSteps checks that timeouts and the delays between attempts do not
// depend on the clock.
func TestClockSteps(t *testing.T) {
	for name, now := range clocks() {
		for _, c := range []struct {
			name   string
			url    string
			silent int // network operation without an answer; 0 for none
			endsIn fetch.Fault
			took   time.Duration
		}{
			{"no failure", "http://example.com/length", 0, 0, 0},
			{"Retry-After", "http://example.com/busy", 0, 0, busyTime},
			{"silent connection attempt", "http://example.com/length", 1, 0, 10*time.Second + delay},
			{"no response to four requests", "http://example.com/stall", 0, fetch.Timeout, 4*30*time.Second + 7*delay},
			{"silent server within the response", "http://example.com/length", 6, 0, longestWait + delay},
		} {
			t.Run(name+", "+c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &scenario{url: c.url, resumes: true}
					tr := &trial{scenario: s, attempts: 4, at: c.silent, conn: faultnet.Silent, disk: &savetest.FS{}}
					tr.change = func(_ *world, opts *fetch.Options) { opts.Now = now }
					if o := tr.run(t); fetch.FaultOf(o.err) != c.endsIn || o.took != c.took {
						t.Errorf("%v after %v, want %v after %v", o.err, o.took, c.endsIn, c.took)
					}
				})
			})
		}
	}
}

// TestClockAndDates checks that dates of a server are compared with the clock,
// and that a Retry-After date causes a delay of at most ten minutes.
func TestClockAndDates(t *testing.T) {
	for name, want := range map[string]struct {
		wait  time.Duration
		dated bool // Last-Modified is accepted, because it is not in the future
	}{
		"right":         {busyTime, true},
		"a year ahead":  {delay, true},
		"a year behind": {10 * time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.watched = t.Context()
				began := time.Now()
				first := true
				w.serve("8.8.8.8:80", &httptest.Server{Config: &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					if first {
						first = false
						rw.Header().Set("Retry-After", began.Add(busyTime).UTC().Format(http.TimeFormat))
						http.Error(rw, "later", http.StatusServiceUnavailable)
						return
					}
					rw.Header().Set("Last-Modified", began.UTC().Format(http.TimeFormat))
					io.WriteString(rw, "hello")
				})}}, false)
				client := newClient(w, fetch.Options{Dial: w.record(w.dial), Now: clocks()[name]}, 4, func(string) {}, webscheme.Schemes(webscheme.Options{})...)
				defer client.Close()
				resp, err := client.Get(t.Context(), "http://example.com/")
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				if took := time.Since(began); took != want.wait {
					t.Errorf("waited %v, want %v", took, want.wait)
				}
				if dated := !resp.Time.IsZero(); dated != want.dated {
					t.Errorf("time of the object %v", resp.Time)
				}
			})
		})
	}
}

// TestClockAndCertificates checks that the error for an expired certificate has
// the current time.
func TestClockAndCertificates(t *testing.T) {
	for _, at := range []int{1960, 2200} {
		synctest.Test(t, func(t *testing.T) {
			s := &scenario{url: "https://example.com/length", tls: true, endsIn: fetch.TLS}
			tr := &trial{scenario: s, attempts: 4, disk: &savetest.FS{}}
			tr.change = func(_ *world, opts *fetch.Options) {
				opts.TLS = opts.TLS.Clone()
				opts.TLS.Time = func() time.Time { return time.Date(at, 1, 1, 0, 0, 0, 0, time.UTC) }
			}
			o := tr.run(t)
			if fetch.FaultOf(o.err) != fetch.TLS || o.took != 0 || !strings.Contains(o.err.Error(), "current time") {
				t.Errorf("%d: %v after %v", at, o.err, o.took)
			}
		})
	}
}
