package sessions

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// TestForgottenServers tests that a Pool with many servers forgets only those
// that no request uses.
func TestForgottenServers(t *testing.T) {
	for _, c := range []struct {
		name     string
		requests int           // to a server that serves one session at a time
		after    time.Duration // when a further server is added; each request takes a second
		kept     bool
	}{
		{"in use", 1, 500 * time.Millisecond, true},
		{"in use, and a request waits", 2, 500 * time.Millisecond, true},
		{"used by a request that has waited", 2, 1500 * time.Millisecond, true},
		{"unused", 1, 2 * time.Second, false},
		{"unused after a request has waited", 2, 3 * time.Second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Pool[*conn]{Done: t.Context().Done()}
				p.addServer("h").limit = 1
				for i := range maxServers - 1 {
					p.addServer(strconv.Itoa(i)).leased = 1
				}
				var tasks sync.WaitGroup
				for range c.requests {
					tasks.Go(func() {
						err := p.Do(t.Context(), "h", nil, func() (*conn, error) { return new(conn), nil }, func(l *Lease[*conn]) error {
							time.Sleep(time.Second)
							l.End(true)
							return nil
						})
						if err != nil {
							t.Error(err)
						}
					})
				}
				time.Sleep(c.after)
				p.mu.Lock()
				p.addServer("another")
				if (p.servers["h"] != nil) != c.kept {
					t.Errorf("kept: %v, want %v", !c.kept, c.kept)
				}
				p.mu.Unlock()
				tasks.Wait()
			})
		})
	}
}

// TestCanceledWait tests that further requests wait for a session in use after
// the wait of another one was canceled.
func TestCanceledWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pool[*conn]{Done: t.Context().Done(), WaitTimeout: time.Minute}
		opened := false
		open := func() (*conn, error) {
			if opened {
				return nil, fetch.TryLater
			}
			opened = true
			return new(conn), nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var tasks sync.WaitGroup
		for _, c := range []struct {
			ctx  context.Context
			want error
		}{{t.Context(), nil}, {t.Context(), nil}, {ctx, context.Canceled}, {t.Context(), nil}} {
			tasks.Go(func() {
				err := p.Do(c.ctx, "h", nil, open, func(l *Lease[*conn]) error {
					time.Sleep(10 * time.Second)
					l.End(true)
					return nil
				})
				if err != c.want {
					t.Errorf("got %v, want %v", err, c.want)
				}
			})
			synctest.Wait()
			if c.want != nil {
				cancel()
				synctest.Wait()
			}
		}
		tasks.Wait()
	})
}
