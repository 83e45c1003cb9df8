package sessions

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
)

// A heldSession occupies a place of a server from its first request until it is
// closed.
type heldSession struct {
	noopSession
	server *limitedServer
	once   sync.Once
	held   bool
}

func (s *heldSession) Abort() { s.Close() }
func (s *heldSession) Close() error {
	s.once.Do(func() {
		if s.held {
			<-s.server.places
			time.Sleep(s.server.closing)
		}
	})
	return nil
}

// A limitedServer serves cap(places) sessions at the same time.
type limitedServer struct {
	places chan bool
	slow   time.Duration // duration of each tenth response, or of all responses if always
	always bool
	pause  time.Duration // the server answers nothing for this time, from the second request
	start  time.Time
	n      int

	closing time.Duration // time from the end of a session at the server to the end of Close
}

// responseTime returns the duration of the next response.
func (sv *limitedServer) responseTime() time.Duration {
	sv.n++
	if sv.n == 2 {
		sv.start = time.Now()
	}
	wait := 10 * time.Millisecond
	if sv.slow > 0 && (sv.always || sv.n%10 == 0) {
		wait = sv.slow
	}
	if sv.n >= 2 {
		wait = max(wait, time.Until(sv.start.Add(sv.pause)))
	}
	return wait
}

// request performs the request n on a session of p. It fails like a driver after
// 30 seconds without a response.
func (sv *limitedServer) request(ctx context.Context, p *Pool[*heldSession], key string, mu *sync.Mutex, t *trace.Trace) error {
	open := func() (*heldSession, error) { return &heldSession{server: sv}, nil }
	return p.Do(ctx, key, t, open, func(l *Lease[*heldSession]) error {
		if !l.Session.held {
			select {
			case sv.places <- true:
				l.Session.held = true
			case <-time.After(30 * time.Second):
				return fetch.Timeout.Errorf("no response")
			}
		}
		mu.Lock()
		wait := sv.responseTime()
		mu.Unlock()
		if wait > 30*time.Second {
			time.Sleep(30 * time.Second)
			return fetch.Timeout.Errorf("no response")
		}
		time.Sleep(wait)
		l.Answered()
		l.End(true)
		return nil
	})
}

// TestCapacity tests that a Pool finds out how many sessions a server serves at
// the same time, and that a slow server is not limited.
func TestCapacity(t *testing.T) {
	for _, c := range []struct {
		name    string
		server  limitedServer
		workers int
		keys    int
		limit   int
		longest time.Duration // of all requests
	}{
		{"one at a time", limitedServer{places: make(chan bool, 1)}, 4, 1, 1, 8 * time.Second},
		{"one at a time, several keys", limitedServer{places: make(chan bool, 1)}, 4, 3, 1, 8 * time.Second},
		{"one at a time, sessions close slowly", limitedServer{places: make(chan bool, 1), closing: 100 * time.Millisecond}, 4, 1, 1, 8 * time.Second},
		{"one at a time, sessions close slowly, several keys", limitedServer{places: make(chan bool, 1), closing: 100 * time.Millisecond}, 4, 3, 1, 50 * time.Second},
		{"one at a time, one worker with several keys", limitedServer{places: make(chan bool, 1)}, 1, 3, 1, 8 * time.Second},
		{"two at a time", limitedServer{places: make(chan bool, 2)}, 4, 1, 2, 8 * time.Second},
		{"two at a time, many workers", limitedServer{places: make(chan bool, 2)}, 50, 1, 2, 8 * time.Second},
		{"all at a time, slow responses", limitedServer{places: make(chan bool, 100), slow: 3 * time.Second}, 4, 1, 0, 60 * time.Second},
		{"all at a time, several keys", limitedServer{places: make(chan bool, 100), slow: 700 * time.Millisecond}, 4, 3, 0, 30 * time.Second},
		{"all responses take 3 s", limitedServer{places: make(chan bool, 100), slow: 3 * time.Second, always: true}, 4, 1, 0, 310 * time.Second},
		{"all responses take 550 ms, several keys", limitedServer{places: make(chan bool, 100), slow: 550 * time.Millisecond, always: true}, 4, 3, 0, 60 * time.Second},
		{"no response for 10 s", limitedServer{places: make(chan bool, 100), pause: 10 * time.Second}, 4, 1, 0, 12 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				done := make(chan struct{})
				p := &Pool[*heldSession]{Done: done, NoGreeting: true}
				sv := c.server
				sv.places = make(chan bool, cap(c.server.places))
				start := time.Now()
				var tasks sync.WaitGroup
				var mu sync.Mutex
				if err := sv.request(t.Context(), p, "h\x000", &mu, nil); err != nil {
					t.Error(err)
				}
				for w := range c.workers {
					tasks.Go(func() {
						for i := range 400 / c.workers {
							if err := sv.request(t.Context(), p, fmt.Sprintf("h\x00%d", (i+w)%c.keys), &mu, nil); err != nil {
								t.Error(err)
							}
						}
					})
				}
				tasks.Wait()
				got := 0
				if s := p.servers["h"]; s != nil {
					got = s.limit
				}
				if took := time.Since(start); got != c.limit || took > c.longest {
					t.Errorf("took %v with the limit %d, want %d", took, got, c.limit)
				}
				close(done)
				time.Sleep(time.Second) // until all sessions are closed
			})
		})
	}
}

// TestCapacityOfStoppedServer tests that a server that answers on no session
// until new sessions fail is not limited.
func TestCapacityOfStoppedServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pool[*heldSession]{Done: t.Context().Done(), NoGreeting: true}
		sv := limitedServer{places: make(chan bool, 100), pause: 40 * time.Second}
		var mu sync.Mutex
		if err := sv.request(t.Context(), p, "h", &mu, nil); err != nil {
			t.Error(err)
		}
		var tasks sync.WaitGroup
		for range 4 {
			tasks.Go(func() {
				if err := sv.request(t.Context(), p, "h", &mu, nil); fetch.FaultOf(err) != fetch.Timeout {
					t.Errorf("got %v", err)
				}
			})
		}
		tasks.Wait()
		if s := p.servers["h"]; s != nil && s.limit > 0 {
			t.Errorf("limited to %d sessions", s.limit)
		}
	})
}

// TestCapacityOfLongBody tests a server that answers on a second session only
// after a long body. The retry of the second request waits for the first one, but
// not longer than SlotTimeout.
func TestCapacityOfLongBody(t *testing.T) {
	for _, c := range []struct {
		name    string
		body    time.Duration
		want    error         // of the retry
		longest time.Duration // of the retry
	}{
		{"ends while the retry waits", 50 * time.Second, nil, 21 * time.Second},
		{"ends after the retry", 200 * time.Second, fetch.Timeout, 91 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Pool[*heldSession]{Done: t.Context().Done(), NoGreeting: true}
				sv := limitedServer{places: make(chan bool, 1)}
				var mu sync.Mutex
				var first *Lease[*heldSession]
				open := func() (*heldSession, error) { return &heldSession{server: &sv}, nil }
				p.Do(t.Context(), "h", nil, open, func(l *Lease[*heldSession]) error {
					sv.places <- true
					first, l.Session.held = l, true
					l.Answered()
					return nil
				})
				time.AfterFunc(c.body, func() { first.End(true) })
				notes := 0
				trace := &trace.Trace{Note: func(string) { notes++ }}
				if err := sv.request(t.Context(), p, "h", &mu, trace); fetch.FaultOf(err) != fetch.Timeout {
					t.Errorf("got %v", err)
				}
				start := time.Now()
				err := sv.request(t.Context(), p, "h", &mu, trace)
				if took := time.Since(start); fetch.FaultOf(err) != fetch.FaultOf(c.want) || took > c.longest || notes != 1 {
					t.Errorf("got %v after %v, and %d notes", err, took, notes)
				}
				time.Sleep(c.body)
			})
		})
	}
}

// TestCapacityOfReplacedSession tests that a replaced session does not count as
// served at the same time as a session that the server serves after it.
func TestCapacityOfReplacedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pool[*heldSession]{Done: t.Context().Done()}
		sv := limitedServer{places: make(chan bool, 1)}
		open := func() (*heldSession, error) { // the server greets when it has a place
			sv.places <- true
			return &heldSession{server: &sv, held: true}, nil
		}
		end := func(l *Lease[*heldSession]) error { l.End(true); return nil }
		if err := p.Do(t.Context(), "h", nil, open, end); err != nil {
			t.Fatal(err)
		}
		var other sync.WaitGroup
		err := p.Do(t.Context(), "h", nil, open, func(l *Lease[*heldSession]) error {
			other.Go(func() {
				p.Do(t.Context(), "h", nil, open, func(l *Lease[*heldSession]) error { l.End(false); return nil })
			})
			synctest.Wait() // until the other request waits for a place
			err := l.Replace(open)
			if proven := p.servers["h"].proven; proven > 1 {
				t.Errorf("%d sessions count as served at the same time", proven)
			}
			l.End(true)
			return err
		})
		other.Wait()
		if err != nil {
			t.Error(err)
		}
	})
}
