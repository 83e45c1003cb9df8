package sessions

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch/trace"
)

// A noopSession implements the methods of Session that these tests do not use.
type noopSession struct{}

func (noopSession) Abort()                  {}
func (noopSession) Claim(*trace.Trace) bool { return true }
func (noopSession) Release() bool           { return true }
func (noopSession) Stale() bool             { return false }

type conn struct {
	noopSession
	name   string
	closed atomic.Int32
}

func (c *conn) Close() error {
	c.closed.Add(1)
	return nil
}

func expectIdle(t *testing.T, p *Pool[*conn], key, name string) {
	t.Helper()
	c, ok := p.popIdle(key)
	switch {
	case !ok && name != "":
		t.Errorf("no session for %s, want %s", key, name)
	case ok && c.name != name:
		t.Errorf("got %s for %s, want %q", c.name, key, name)
	case ok && c.closed.Load() != 0:
		t.Errorf("got the closed session %s", c.name)
	}
}

func TestPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pool[*conn]{Done: t.Context().Done()}
		a, b, c := &conn{name: "a"}, &conn{name: "b"}, &conn{name: "c"}
		p.Put("typed ftp://h:21 alice", a)
		p.Put("typed ftp://h:21 alice", b)
		p.Put("public ftp://h:21 alice", c)
		expectIdle(t, p, "typed ftp://h:21 bob", "")
		expectIdle(t, p, "typed ftp://h:21 alice", "b") // the most recently used session
		expectIdle(t, p, "typed ftp://h:21 alice", "a")
		expectIdle(t, p, "typed ftp://h:21 alice", "")
		expectIdle(t, p, "public ftp://h:21 alice", "c")
	})
}

func TestIdleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pool[*conn]{IdleTimeout: 10 * time.Second, Done: t.Context().Done()}
		old, young := &conn{name: "old"}, &conn{name: "young"}
		p.Put("k", old)
		time.Sleep(5 * time.Second)
		p.Put("k", young)
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if old.closed.Load() != 1 || young.closed.Load() != 0 {
			t.Errorf("closed: old %d, young %d, want 1 and 0", old.closed.Load(), young.closed.Load())
		}
		expectIdle(t, p, "k", "young")
		expectIdle(t, p, "k", "")
		p.Put("k", young) // restarts the idle time
		time.Sleep(9 * time.Second)
		expectIdle(t, p, "k", "young")
	})
}

func TestMaxIdlePerKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pool[*conn]{MaxIdlePerKey: 2, Done: t.Context().Done()}
		a, b, c := &conn{name: "a"}, &conn{name: "b"}, &conn{name: "c"}
		p.Put("k", a)
		p.Put("k", b)
		p.Put("k", c)
		if a.closed.Load() != 1 {
			t.Error("oldest session not closed")
		}
		expectIdle(t, p, "k", "c")
		expectIdle(t, p, "k", "b")
		expectIdle(t, p, "k", "")
	})
}

func TestMaxIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pool[*conn]{MaxIdle: 2, Done: t.Context().Done()}
		a, b, c, d := &conn{name: "a"}, &conn{name: "b"}, &conn{name: "c"}, &conn{name: "d"}
		p.Put("k", a)
		time.Sleep(time.Second)
		p.Put("l", b)
		time.Sleep(time.Second)
		p.Put("m", c)
		if a.closed.Load() != 1 || b.closed.Load() != 0 {
			t.Error("wrong session closed")
		}
		expectIdle(t, p, "l", "b")
		p.Put("m", d)
		if c.closed.Load() != 0 {
			t.Error("too many sessions closed")
		}
		expectIdle(t, p, "k", "")
		expectIdle(t, p, "m", "d")
		expectIdle(t, p, "m", "c")
		e, f, g := &conn{name: "e"}, &conn{name: "f"}, &conn{name: "g"}
		for _, s := range []*conn{e, f, g} { // after sessions were used again
			p.Put("m", s)
			time.Sleep(time.Second)
		}
		if e.closed.Load() != 1 || f.closed.Load() != 0 {
			t.Error("the limit has changed")
		}
	})
}

func TestDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		p := &Pool[*conn]{Done: done}
		before, after := &conn{name: "before"}, &conn{name: "after"}
		p.Put("k", before)
		close(done)
		synctest.Wait()
		expectIdle(t, p, "k", "")
		p.Put("k", after)
		synctest.Wait()
		expectIdle(t, p, "k", "")
		if before.closed.Load() != 1 || after.closed.Load() != 1 {
			t.Errorf("closed: before %d, after %d, want 1 and 1", before.closed.Load(), after.closed.Load())
		}
	})
}

// TestBackgroundGoroutine tests that no goroutine runs if no session is idle.
func TestBackgroundGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pool[*conn]{IdleTimeout: 10 * time.Second}
		for range 3 {
			c := &conn{name: "c"}
			p.Put("k", c)
			time.Sleep(8 * time.Second)
			expectIdle(t, p, "k", "c")
			p.Put("k", c)
			time.Sleep(9 * time.Second)
			expectIdle(t, p, "k", "c")
			time.Sleep(11 * time.Second) // lets the goroutine exit before the bubble ends
		}
	})
}

// A countedSession counts as open until Close. A second Close panics.
type countedSession struct {
	noopSession
	open   *sync.WaitGroup
	closed atomic.Bool
}

func (c *countedSession) Close() error {
	c.closed.Store(true)
	c.open.Done()
	return nil
}

// TestExclusiveUse tests that a session has one user at a time and is closed
// once.
func TestExclusiveUse(t *testing.T) {
	var users, open sync.WaitGroup
	p := &Pool[*countedSession]{IdleTimeout: time.Microsecond, MaxIdlePerKey: 3}
	for range 8 {
		users.Go(func() {
			for range 500 {
				c, ok := p.popIdle("k")
				if !ok {
					open.Add(1)
					c = &countedSession{open: &open}
				}
				if c.closed.Load() {
					t.Error("got a closed session")
					return
				}
				p.Put("k", c)
			}
		})
	}
	users.Wait()
	open.Wait()
}
