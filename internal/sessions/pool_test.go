package sessions

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// idle is the part of a Session that the Pool alone does not use.
type idle struct{}

func (idle) Abort()                  {}
func (idle) Claim(*fetch.Trace) bool { return true }
func (idle) Release() bool           { return true }
func (idle) Stale() bool             { return false }

type conn struct {
	idle
	name   string
	closed atomic.Int32
}

func (c *conn) Close() error {
	c.closed.Add(1)
	return nil
}

func want(t *testing.T, p *Pool[*conn], key, name string) {
	t.Helper()
	c, ok := p.popIdle(key)
	switch {
	case !ok && name != "":
		t.Errorf("no session for %s, want %s", key, name)
	case ok && c.name != name:
		t.Errorf("got %s for %s, want %q", c.name, key, name)
	case ok && c.closed.Load() != 0:
		t.Errorf("%s was given out closed", c.name)
	}
}

func TestPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pool[*conn]{Done: t.Context().Done()}
		a, b, c := &conn{name: "a"}, &conn{name: "b"}, &conn{name: "c"}
		p.Put("typed ftp://h:21 alice", a)
		p.Put("typed ftp://h:21 alice", b)
		p.Put("public ftp://h:21 alice", c)
		want(t, p, "typed ftp://h:21 bob", "")
		want(t, p, "typed ftp://h:21 alice", "b") // the newest is the likeliest to live
		want(t, p, "typed ftp://h:21 alice", "a")
		want(t, p, "typed ftp://h:21 alice", "")
		want(t, p, "public ftp://h:21 alice", "c")
	})
}

func TestIdle(t *testing.T) {
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
		want(t, p, "k", "young")
		want(t, p, "k", "")
		p.Put("k", young) // its time begins anew
		time.Sleep(9 * time.Second)
		want(t, p, "k", "young")
	})
}

func TestMax(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pool[*conn]{MaxIdlePerKey: 2, Done: t.Context().Done()}
		a, b, c := &conn{name: "a"}, &conn{name: "b"}, &conn{name: "c"}
		p.Put("k", a)
		p.Put("k", b)
		p.Put("k", c)
		if a.closed.Load() != 1 {
			t.Error("the oldest was not closed")
		}
		want(t, p, "k", "c")
		want(t, p, "k", "b")
		want(t, p, "k", "")
	})
}

func TestAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pool[*conn]{MaxIdle: 2, Done: t.Context().Done()}
		a, b, c, d := &conn{name: "a"}, &conn{name: "b"}, &conn{name: "c"}, &conn{name: "d"}
		p.Put("k", a)
		time.Sleep(time.Second)
		p.Put("l", b)
		time.Sleep(time.Second)
		p.Put("m", c)
		if a.closed.Load() != 1 || b.closed.Load() != 0 {
			t.Error("not the oldest was closed")
		}
		want(t, p, "l", "b")
		p.Put("m", d)
		if c.closed.Load() != 0 {
			t.Error("one was closed too many")
		}
		want(t, p, "k", "")
		want(t, p, "m", "d")
		want(t, p, "m", "c")
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
		want(t, p, "k", "")
		p.Put("k", after)
		synctest.Wait()
		want(t, p, "k", "")
		if before.closed.Load() != 1 || after.closed.Load() != 1 {
			t.Errorf("closed: before %d, after %d, want 1 and 1", before.closed.Load(), after.closed.Load())
		}
	})
}

// TestWatcher: nothing runs on behalf of a pool in which nothing waits.
func TestWatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pool[*conn]{IdleTimeout: 10 * time.Second}
		for range 3 {
			c := &conn{name: "c"}
			p.Put("k", c)
			time.Sleep(8 * time.Second)
			want(t, p, "k", "c")
			p.Put("k", c)
			time.Sleep(9 * time.Second)
			want(t, p, "k", "c")
			time.Sleep(11 * time.Second) // else the bubble would not end
		}
	})
}

// counted is open until it is closed; a second time panics.
type counted struct {
	idle
	open   *sync.WaitGroup
	closed atomic.Bool
}

func (c *counted) Close() error {
	c.closed.Store(true)
	c.open.Done()
	return nil
}

// TestOneOwner: a session is in one pair of hands, or closed once.
func TestOneOwner(t *testing.T) {
	var users, open sync.WaitGroup
	p := &Pool[*counted]{IdleTimeout: time.Microsecond, MaxIdlePerKey: 3}
	for range 8 {
		users.Go(func() {
			for range 500 {
				c, ok := p.popIdle("k")
				if !ok {
					open.Add(1)
					c = &counted{open: &open}
				}
				if c.closed.Load() {
					t.Error("given out closed")
					return
				}
				p.Put("k", c)
			}
		})
	}
	users.Wait()
	open.Wait()
}
