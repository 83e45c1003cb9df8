package sessions

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// fake is a session that records what the Pool does with it.
type fake struct {
	name  string
	log   *[]string
	deaf  bool // Claim refuses
	stale bool
	spent bool // Release refuses

	mu sync.Mutex
}

func (f *fake) add(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*f.log = append(*f.log, what+" "+f.name)
}

func (f *fake) Close() error            { f.add("close"); return nil }
func (f *fake) Abort()                  { f.add("abort") }
func (f *fake) Claim(*fetch.Trace) bool { f.add("claim"); return !f.deaf }
func (f *fake) Release() bool           { f.add("release"); return !f.spent }
func (f *fake) Stale() bool             { return f.stale }

// TestDo: which session a request gets, and what becomes of the sessions.
func TestDo(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name string
		idle []*fake
		use  []error // of each attempt
		open error
		want error
		log  string
	}{
		{"no idle session", nil, nil, nil, nil, "open, use new, release new"},
		{"idle session", []*fake{{name: "a"}}, nil, nil, nil, "claim a, use a, release a"},
		{"two idle sessions", []*fake{{name: "a"}, {name: "b"}}, nil, nil, nil, "claim b, use b, release b"},
		{"idle session of no use", []*fake{{name: "a"}, {name: "b", deaf: true}}, nil, nil, nil, "claim b, close b, claim a, use a, release a"},
		{"stale sessions", []*fake{{name: "a", stale: true}, {name: "b", stale: true}}, []error{broken, broken}, nil, nil,
			"claim b, use b, abort b, restarted, claim a, use a, abort a, restarted, open, use new, release new"},
		{"stale without an error", []*fake{{name: "a", stale: true}}, nil, nil, nil, "claim a, use a, release a"},
		{"error of an answer", []*fake{{name: "a"}}, []error{broken}, nil, broken, "claim a, use a, release a"},
		{"error that ends the session", []*fake{{name: "a", spent: true}}, []error{broken}, nil, broken, "claim a, use a, release a, close a"},
		{"another session is needed", []*fake{{name: "a"}}, []error{ErrStale}, nil, nil, "claim a, use a, abort a, restarted, open, use new, release new"},
		{"another than a new session", nil, []error{ErrStale}, nil, ErrStale, "open, use new, release new"},
		{"no new session", nil, nil, broken, broken, "open"},
		{"busy server, no other request", nil, nil, fetch.TryLater, fetch.TryLater, "open"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Pool[*fake]{Done: t.Context().Done(), WaitTimeout: time.Minute}
				var log []string
				for _, f := range c.idle {
					f.log = &log
					p.Put("k", f)
				}
				trace := &fetch.Trace{Restart: func() { log = append(log, "restarted") }}
				err := p.Do(t.Context(), "k", trace, func() (*fake, error) {
					log = append(log, "open")
					return &fake{name: "new", log: &log}, c.open
				}, func(l *Lease[*fake]) error {
					l.Session.add("use")
					if len(c.use) > 0 {
						var err error
						err, c.use = c.use[0], c.use[1:]
						return err
					}
					l.End(true)
					l.End(false) // has no effect
					return nil
				})
				if got := strings.Join(log, ", "); err != c.want || got != c.log {
					t.Errorf("got %v, %s\nwant %v, %s", err, got, c.want, c.log)
				}
			})
		})
	}
}

// TestDoEnds: the error of a request whose ctx ended is the cause, and its
// session is not used again.
func TestDoEnds(t *testing.T) {
	why := errors.New("why")
	for _, at := range []string{"open", "use", "after use", "end"} {
		synctest.Test(t, func(t *testing.T) {
			p := &Pool[*fake]{Done: t.Context().Done()}
			var log []string
			ctx, cancel := context.WithCancelCause(t.Context())
			end := func(now string) {
				if at == now {
					cancel(why)
					synctest.Wait()
				}
			}
			var lease *Lease[*fake]
			err := p.Do(ctx, "k", nil, func() (*fake, error) {
				end("open")
				return &fake{name: "new", log: &log}, nil
			}, func(l *Lease[*fake]) error {
				lease = l
				end("use")
				if ctx.Err() != nil {
					return net.ErrClosed
				}
				return nil
			})
			if (at == "open" || at == "use") != (err == why) {
				t.Errorf("%s: got %v", at, err)
			}
			end("after use")
			if lease != nil {
				lease.End(at == "after use")
			}
			if _, ok := p.popIdle("k"); ok || len(p.queues) > 0 {
				t.Errorf("%s: the pool has kept something: %v", at, log)
			}
			cancel(nil)
		})
	}
}

// TestReplace: a request goes on with another session, and the first one is
// not used again.
func TestReplace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pool[*fake]{Done: t.Context().Done()}
		var log []string
		a, b := &fake{name: "a", log: &log}, &fake{name: "b", log: &log}
		open := func(f *fake, err error) func() (*fake, error) { return func() (*fake, error) { return f, err } }
		err := p.Do(t.Context(), "k", nil, open(a, nil), func(l *Lease[*fake]) error {
			l.Rekey("other")
			err := l.Replace(open(b, nil))
			l.Session.add("use")
			l.End(true)
			return err
		})
		if got := strings.Join(log, ", "); err != nil || got != "close a, use b, release b" {
			t.Errorf("got %v, %s", err, got)
		}
		if s, ok := p.popIdle("other"); !ok || s != b {
			t.Error("the new session is not kept under the new key")
		}
		err = p.Do(t.Context(), "k", nil, open(a, nil), func(l *Lease[*fake]) error {
			return l.Replace(open(nil, io.EOF))
		})
		if err != io.EOF || p.queues["k"] != nil {
			t.Errorf("got %v", err)
		}
	})
}

// TestWait: requests that a busy server refuses wait for the sessions of
// others, and get one each.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pool[*fake]{Done: t.Context().Done(), WaitTimeout: time.Minute}
		var log []string
		only := &fake{name: "only", log: &log}
		opened := false
		open := func() (*fake, error) {
			if opened {
				return nil, fetch.TryLater
			}
			opened = true
			return only, nil
		}
		var tasks sync.WaitGroup
		for i := range 5 {
			tasks.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				err := p.Do(t.Context(), "k", nil, open, func(l *Lease[*fake]) error {
					time.Sleep(10 * time.Second)
					l.End(true)
					return nil
				})
				if err != nil {
					t.Errorf("request %d: %v", i, err)
				}
			})
		}
		tasks.Wait()
		start := time.Now()
		p.Do(t.Context(), "k", nil, open, func(l *Lease[*fake]) error {
			if err := p.Do(t.Context(), "k", nil, open, nil); err != fetch.TryLater || time.Since(start) != time.Minute {
				t.Errorf("got %v after %v, want a minute's wait", err, time.Since(start))
			}
			l.End(false)
			return nil
		})
		if len(p.queues) > 0 {
			t.Errorf("%d queues are left", len(p.queues))
		}
	})
}

// TestBody: how the end of a body ends the lease.
func TestBody(t *testing.T) {
	lost := errors.New("lost")
	for _, c := range []struct {
		name string
		r    io.Reader
		read int // bytes; -1: all
		err  error
		log  string
	}{
		{"empty", nil, -1, nil, "release s"},
		{"complete", strings.NewReader("hello"), -1, nil, "release s"},
		{"closed early", strings.NewReader("hello"), 2, nil, "abort s"},
		{"not read", strings.NewReader("hello"), 0, nil, "abort s"},
		{"broken", io.MultiReader(strings.NewReader("hel"), failing{lost}), -1, fetch.Truncated, "abort s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Pool[*fake]{Done: t.Context().Done()}
				var log []string
				var body io.ReadCloser
				p.Do(t.Context(), "k", nil, func() (*fake, error) { return &fake{name: "s", log: &log}, nil }, func(l *Lease[*fake]) error {
					body = l.Body(c.r, func(err error) error {
						if err == lost {
							err = fetch.Truncated.With(err)
						}
						return err
					})
					return nil
				})
				var err error
				if c.read < 0 {
					_, err = io.Copy(io.Discard, body)
				} else {
					_, err = io.CopyN(io.Discard, body, int64(c.read))
				}
				body.Close()
				body.Close()
				if _, err := body.Read(make([]byte, 1)); err == nil {
					t.Error("a closed body can be read")
				}
				if got := strings.Join(log, ", "); fetch.FaultOf(err) != fetch.FaultOf(c.err) || got != c.log {
					t.Errorf("got %v, %s, want %v, %s", err, got, c.err, c.log)
				}
			})
		})
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestLeases: with many requests a session has one user at a time, and nothing
// is left of it at the end.
func TestLeases(t *testing.T) {
	done := make(chan struct{})
	p := &Pool[*owned]{MaxIdlePerKey: 3, Done: done}
	var tasks sync.WaitGroup
	for i := range 8 {
		tasks.Go(func() {
			for n := range 300 {
				ctx, cancel := context.WithCancel(context.Background())
				p.Do(ctx, strconv.Itoa(n%2), nil, func() (*owned, error) { return new(owned), nil }, func(l *Lease[*owned]) error {
					if !l.Session.busy.TryLock() {
						t.Error("a session has two users")
					}
					if n%7 == i {
						cancel()
					}
					l.Session.busy.Unlock()
					l.End(n%5 > 0)
					return nil
				})
				cancel()
			}
		})
	}
	tasks.Wait()
	close(done)
	for {
		p.mu.Lock()
		watching, left := p.closerRunning, p.count
		p.mu.Unlock()
		if !watching {
			if left > 0 || len(p.queues) > 0 {
				t.Errorf("%d sessions and %d queues are left", left, len(p.queues))
			}
			return
		}
	}
}

type owned struct {
	idle
	busy sync.Mutex
}

func (*owned) Close() error { return nil }
