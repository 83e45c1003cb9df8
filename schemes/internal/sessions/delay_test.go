package sessions

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// A hookedSession calls a function when it is closed.
type hookedSession struct {
	noopSession
	closed func()
}

func (s *hookedSession) Abort() { s.Close() }
func (s *hookedSession) Close() error {
	if s.closed != nil {
		s.closed()
	}
	return nil
}

// limitOf returns the limit of the server "h", or 0.
func limitOf(p *Pool[*hookedSession]) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if sv := p.servers["h"]; sv != nil {
		return sv.limit
	}
	return 0
}

// TestClosedForNew tests when idle sessions are closed for a new one, and after
// which answers the server is limited. The server answers some time after all of
// them were closed.
func TestClosedForNew(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name    string
		idle    int             // idle sessions before each new session
		held    bool            // earlier new sessions stay in use
		answers []time.Duration // for each new session, from the last closing
		closed  []time.Duration // for each idle session, from the opening of the new one
		limits  []int           // after each new session
	}{
		{"prompt answers", 1, false, []time.Duration{100 * ms, 100 * ms}, []time.Duration{500 * ms, 750 * ms}, []int{0, 1}},
		{"answers after a quarter of the wait", 1, false, []time.Duration{125 * ms, 187 * ms}, []time.Duration{500 * ms, 750 * ms}, []int{0, 1}},
		{"late answers", 1, true, []time.Duration{126 * ms, 251 * ms, 501 * ms}, []time.Duration{500 * ms, 1000 * ms, 2000 * ms}, []int{0, 0, 0}},
		{"a late answer between prompt ones", 1, true, []time.Duration{100 * ms, 400 * ms, 100 * ms, 100 * ms},
			[]time.Duration{500 * ms, 750 * ms, 1500 * ms, 2250 * ms}, []int{0, 0, 0, 4}},
		{"several idle sessions", 3, false, []time.Duration{100 * ms, 100 * ms},
			[]time.Duration{500 * ms, 1000 * ms, 2000 * ms, 750 * ms, 1500 * ms, 3000 * ms}, []int{0, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Pool[*hookedSession]{Done: t.Context().Done()}
				var times []time.Duration
				var limits []int
				for _, answer := range c.answers {
					start, ended := time.Now(), make(chan time.Duration, c.idle)
					for range c.idle {
						p.Put("h\x00old", &hookedSession{closed: func() { ended <- time.Since(start) }})
					}
					p.Do(t.Context(), "h\x00new", nil, func() (*hookedSession, error) {
						for range c.idle {
							times = append(times, <-ended)
						}
						time.Sleep(answer)
						return new(hookedSession), nil
					}, func(l *Lease[*hookedSession]) error {
						if !c.held {
							l.End(false)
						}
						return nil
					})
					limits = append(limits, limitOf(p))
				}
				if !slices.Equal(times, c.closed) || !slices.Equal(limits, c.limits) {
					t.Errorf("closed after %v with the limits %v, want %v and %v", times, limits, c.closed, c.limits)
				}
			})
		})
	}
}

// TestClosedAtProvenServer tests that idle sessions are not closed for a new one
// if the server has served more sessions at the same time.
func TestClosedAtProvenServer(t *testing.T) {
	for _, c := range []struct {
		name   string
		served int           // sessions at the same time
		idle   int           // sessions that are kept
		answer time.Duration // of the new session
		closed int32
	}{
		{"one of one", 1, 1, 700 * time.Millisecond, 1},
		{"one of two", 2, 1, 700 * time.Millisecond, 0},
		{"two of two", 2, 2, 700 * time.Millisecond, 1},
		{"two of two, and the server has stopped", 2, 2, time.Minute, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Pool[*hookedSession]{Done: t.Context().Done()}
				var closed atomic.Int32
				open := func() (*hookedSession, error) { return &hookedSession{closed: func() { closed.Add(1) }}, nil }
				p.Do(t.Context(), "h\x00old", nil, open, func(l *Lease[*hookedSession]) error { l.End(true); return nil })
				var leases []*Lease[*hookedSession]
				for range c.served {
					p.Do(t.Context(), "h\x00old", nil, open, func(l *Lease[*hookedSession]) error { leases = append(leases, l); return nil })
				}
				for i, l := range leases {
					l.End(i < c.idle)
				}
				closed.Store(0)
				p.Do(t.Context(), "h\x00new", nil, func() (*hookedSession, error) {
					if time.Sleep(min(c.answer, 30*time.Second)); c.answer > 30*time.Second {
						return nil, fetch.Timeout
					}
					return new(hookedSession), nil
				}, func(l *Lease[*hookedSession]) error { l.End(false); return nil })
				if limit := limitOf(p); closed.Load() != c.closed || limit != 0 {
					t.Errorf("closed %d sessions, want %d; limit %d", closed.Load(), c.closed, limit)
				}
			})
		})
	}
}

// TestClosedAfterRequest tests that a session that is always in use is closed for
// a new one, after a complete request while the new one waited.
func TestClosedAfterRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pool[*hookedSession]{Done: t.Context().Done()}
		ended := make(chan bool)
		requests := 0
		request := func(open func() (*hookedSession, error), takes time.Duration) {
			p.Do(t.Context(), "h", nil, open, func(l *Lease[*hookedSession]) error {
				if l.Session.closed != nil {
					requests++
				}
				time.Sleep(takes)
				l.End(true)
				return nil
			})
		}
		first := func() (*hookedSession, error) { return &hookedSession{closed: func() { close(ended) }}, nil }
		waiting := func() (*hookedSession, error) { <-ended; return new(hookedSession), nil }
		request(first, 0)
		var tasks sync.WaitGroup
		tasks.Go(func() {
			for range 40 {
				request(waiting, 700*time.Millisecond)
			}
		})
		synctest.Wait()
		request(waiting, 0)
		if requests != 3 { // the first one, one during which the new session is opened, a complete one
			t.Errorf("the session was closed after %d requests", requests)
		}
		tasks.Wait()
	})
}

// TestCloseSurplus tests how many idle sessions are closed before another one is
// opened at a server with a limit.
func TestCloseSurplus(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit int
		idle  map[string]int // number of idle sessions of each key
		left  int            // of all keys
	}{
		{"no limit", 0, map[string]int{"h\x00a": 2}, 2},
		{"below the limit", 4, map[string]int{"h\x00a": 2}, 2},
		{"up to the limit", 3, map[string]int{"h\x00a": 2}, 2},
		{"one too many", 2, map[string]int{"h\x00a": 2}, 1},
		{"one too many, several keys", 3, map[string]int{"h\x00a": 1, "h\x00b": 1, "h\x00c": 1}, 2},
		{"all too many, several keys", 1, map[string]int{"h\x00a": 2, "h\x00b": 2}, 0},
		{"another server", 1, map[string]int{"i\x00a": 2}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Pool[*hookedSession]{Done: t.Context().Done()}
				p.addServer("h").limit = c.limit
				for key, n := range c.idle {
					for range n {
						p.Put(key, new(hookedSession))
					}
				}
				open := func() (*hookedSession, error) { return new(hookedSession), nil }
				p.Do(t.Context(), "h\x00new", nil, open, func(l *Lease[*hookedSession]) error {
					if p.count != c.left {
						t.Errorf("%d idle sessions are left, want %d", p.count, c.left)
					}
					l.End(false)
					return nil
				})
			})
		})
	}
}
