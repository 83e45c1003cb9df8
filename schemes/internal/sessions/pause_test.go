package sessions

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/turn"
)

// TestPause tests that a request that waited for another one pauses before it
// uses a session, and that other requests do not pause.
func TestPause(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit int   // sessions that the server is known to serve at a time, or 0
		full  error // of a new session while another one is in use
		want  int   // number of pauses of two requests
	}{
		{"no limit", 0, nil, 0},
		{"a known limit", 1, nil, 1},
		{"the server rejects the second session", 0, fetch.TryLater, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Pool[*conn]{Done: t.Context().Done(), WaitTimeout: time.Minute}
				p.mu.Lock()
				p.addServer("h").limit = c.limit
				p.mu.Unlock()
				pauses := 0
				var used atomic.Bool // a session is in use
				ctx := turn.WithPause(t.Context(), func(context.Context) { pauses++ })
				open := func() (*conn, error) {
					if used.Load() && c.full != nil {
						return nil, c.full
					}
					return new(conn), nil
				}
				use := func(l *Lease[*conn]) error {
					if used.Store(true); c.want > 0 && pauses == 0 && l.Session.name == "used" {
						t.Error("no pause before the second request")
					}
					time.AfterFunc(time.Second, func() {
						used.Store(false)
						l.Session.name = "used"
						l.End(true)
					})
					return nil
				}
				for range 2 {
					if err := p.Do(ctx, "h", nil, open, use); err != nil {
						t.Error(err)
					}
				}
				if pauses != c.want {
					t.Errorf("%d pauses, want %d", pauses, c.want)
				}
				time.Sleep(2 * time.Second) // until the leases have ended
			})
		})
	}
}
