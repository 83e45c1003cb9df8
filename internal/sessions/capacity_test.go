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
		}
	})
	return nil
}

// A limitedServer serves cap(places) sessions at the same time.
type limitedServer struct {
	places chan bool
	slow   time.Duration // duration of each tenth response
	n      int
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
		sv.n++
		wait := 10 * time.Millisecond
		if sv.slow > 0 && sv.n%10 == 0 {
			wait = sv.slow
		}
		mu.Unlock()
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
		{"one at a time, one worker with several keys", limitedServer{places: make(chan bool, 1)}, 1, 3, 1, 8 * time.Second},
		{"two at a time", limitedServer{places: make(chan bool, 2)}, 4, 1, 2, 8 * time.Second},
		{"all at a time, slow responses", limitedServer{places: make(chan bool, 100), slow: 3 * time.Second}, 4, 1, 0, 60 * time.Second},
		{"all at a time, several keys", limitedServer{places: make(chan bool, 100), slow: 700 * time.Millisecond}, 4, 3, 0, 30 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Pool[*heldSession]{Done: t.Context().Done(), NoGreeting: true}
				sv := limitedServer{places: make(chan bool, cap(c.server.places)), slow: c.server.slow}
				start := time.Now()
				var tasks sync.WaitGroup
				var mu sync.Mutex
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
			})
		})
	}
}

// TestCapacityOfLongBody tests a server that answers on a second session only
// after a long body. The retry of the second request waits for the first one.
func TestCapacityOfLongBody(t *testing.T) {
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
		time.AfterFunc(50*time.Second, func() { first.End(true) })
		noted := ""
		notes := &trace.Trace{Note: func(s string) { noted = s }}
		if err := sv.request(t.Context(), p, "h", &mu, notes); fetch.FaultOf(err) != fetch.Timeout {
			t.Errorf("got %v", err)
		}
		start := time.Now()
		err := sv.request(t.Context(), p, "h", &mu, notes)
		if took := time.Since(start); err != nil || took > 21*time.Second || noted == "" {
			t.Errorf("got %v after %v, note %q", err, took, noted)
		}
	})
}
