package http

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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

// TestH3PoolLimit checks that a server which allows few requests gets more
// connections, and that a new one starts with the limit of the others.
func TestH3PoolLimit(t *testing.T) {
	var p h3pool
	dials := 0
	get := func() *h3conn {
		c, _, err := p.get(t.Context(), "key", []string{"a"}, func() (*h3conn, error) {
			dials++
			return &h3conn{Conn: &closingConn{}, addr: "a"}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := get()
	if second := get(); second != first {
		t.Fatal("the second request does not share the connection")
	}
	p.put(first) // the second request got no stream
	if !p.limit(first) {
		t.Fatal("the first request does not use the connection")
	}
	get()
	get()
	if dials != 3 {
		t.Errorf("%d connections for three requests, want 3", dials)
	}
	p.put(first)
	if p.limit(first) {
		t.Error("a connection without requests was limited")
	}
	p.closeIdle(first)
	for _, c := range slices.Clone(p.conns["key"]) {
		p.put(c)
		p.closeIdle(c)
	}
	if len(p.conns) > 0 || len(p.limits) > 0 {
		t.Errorf("left %v and %v", p.conns, p.limits)
	}
}

// A countingConn counts the open connections.
type countingConn struct {
	message.Conn
	open *int
}

func (countingConn) Usable() bool { return true }

func (c countingConn) Close() error {
	*c.open--
	return nil
}

// TestH3PoolIdle checks that requests to many servers do not leave many connections
// open, and that those used last are kept.
func TestH3PoolIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done, open, dials := make(chan struct{}), 0, 0
		p := h3pool{done: done}
		get := func(key int) *h3conn {
			c, _, err := p.get(t.Context(), strconv.Itoa(key), []string{"a"}, func() (*h3conn, error) {
				open++
				dials++
				return &h3conn{Conn: countingConn{open: &open}, addr: "a"}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		busy := get(-1)
		for key := range 3 * maxIdle {
			p.put(get(key))
			p.put(get(0)) // is used all the time
			time.Sleep(time.Millisecond)
		}
		if want := maxIdle + 1; open != want || dials != 3*maxIdle+1 {
			t.Errorf("%d open connections after %d attempts, want %d", open, dials, want)
		}
		p.put(busy)
		close(done)
		synctest.Wait()
		if open != 0 {
			t.Errorf("%d open connections after the end of the Client", open)
		}
	})
}
