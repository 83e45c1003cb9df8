package http

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/http3/message"
)

// TestH3PoolSharesErrors checks that concurrent requests to a server that does
// not answer wait for one attempt, and that a canceled request does not stop the
// others.
func TestH3PoolSharesErrors(t *testing.T) {
	for name, c := range map[string]struct {
		cancel bool // cancel the context of the request that connects
		dials  int32
	}{"failed": {false, 1}, "canceled": {true, 2}} {
		synctest.Test(t, func(t *testing.T) {
			var p h3pool
			var dials atomic.Int32
			failed := fetch.Timeout.Errorf("no answer")
			first, cancel := context.WithCancel(t.Context())
			release := make(chan struct{})
			dial := func() (*h3conn, error) {
				if dials.Add(1) == 1 {
					<-release
				}
				return nil, failed
			}
			var all sync.WaitGroup
			get := func(ctx context.Context) {
				if _, _, err := p.get(ctx, "key", nil, dial); err == nil {
					t.Errorf("%s: no error", name)
				}
			}
			all.Go(func() { get(first) })
			synctest.Wait()
			for range 10 {
				all.Go(func() { get(t.Context()) })
			}
			synctest.Wait()
			if c.cancel {
				cancel()
			}
			close(release)
			all.Wait()
			cancel()
			if n := dials.Load(); n < c.dials || !c.cancel && n != c.dials {
				t.Errorf("%s: %d attempts, want %d", name, n, c.dials)
			}
			if len(p.dialing) > 0 || len(p.conns["key"]) > 0 {
				t.Errorf("%s: left %v and %v", name, p.dialing, p.conns)
			}
		})
	}
}

// A closingConn is a connection that its server closes.
type closingConn struct {
	message.Conn
	gone bool
}

func (c *closingConn) Usable() bool { return !c.gone }
func (c *closingConn) Close() error { return nil }

// TestH3PoolForgetsClosed checks that a connection which the server has closed
// during its last request is not kept, also not until the Client is closed.
func TestH3PoolForgetsClosed(t *testing.T) {
	for _, c := range []struct {
		name string
		gone bool
		kept int
	}{{"open", false, 1}, {"closed by the server", true, 0}} {
		synctest.Test(t, func(t *testing.T) {
			done := make(chan struct{})
			p := h3pool{done: done}
			own := &closingConn{}
			conn, _, err := p.get(t.Context(), "key", []string{"a"}, func() (*h3conn, error) { return &h3conn{Conn: own, addr: "a"}, nil })
			if err != nil {
				t.Fatal(err)
			}
			own.gone = c.gone
			p.put(conn)
			if n := len(p.conns["key"]); n != c.kept {
				t.Errorf("%s: %d connections are kept, want %d", c.name, n, c.kept)
			}
			close(done) // the pool then closes its idle connections
			synctest.Wait()
		})
	}
}
