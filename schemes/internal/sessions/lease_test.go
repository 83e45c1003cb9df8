package sessions

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
)

// A fakeSession is a session that records the calls of the Pool.
type fakeSession struct {
	name         string
	log          *[]string
	claimFails   bool // result of Claim is false
	stale        bool
	releaseFails bool // result of Release is false

	mu sync.Mutex
}

func (f *fakeSession) add(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*f.log = append(*f.log, what+" "+f.name)
}

func (f *fakeSession) Close() error            { f.add("close"); return nil }
func (f *fakeSession) Abort()                  { f.add("abort") }
func (f *fakeSession) Claim(*trace.Trace) bool { f.add("claim"); return !f.claimFails }
func (f *fakeSession) Release() bool           { f.add("release"); return !f.releaseFails }
func (f *fakeSession) Stale() bool             { return f.stale }

// TestDo tests which session a request gets and which calls the sessions
// receive.
func TestDo(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name string
		idle []*fakeSession
		use  []error // results of the attempts
		open error
		want error
		log  string
	}{
		{"no idle session", nil, nil, nil, nil, "open, use new, release new"},
		{"idle session", []*fakeSession{{name: "a"}}, nil, nil, nil, "claim a, use a, release a"},
		{"two idle sessions", []*fakeSession{{name: "a"}, {name: "b"}}, nil, nil, nil, "claim b, use b, release b"},
		{"unusable idle session", []*fakeSession{{name: "a"}, {name: "b", claimFails: true}}, nil, nil, nil, "claim b, close b, claim a, use a, release a"},
		{"stale sessions", []*fakeSession{{name: "a", stale: true}, {name: "b", stale: true}}, []error{broken, broken}, nil, nil,
			"claim b, use b, abort b, restarted, claim a, use a, abort a, restarted, open, use new, release new"},
		{"stale session, no error", []*fakeSession{{name: "a", stale: true}}, nil, nil, nil, "claim a, use a, release a"},
		{"error with a usable session", []*fakeSession{{name: "a"}}, []error{broken}, nil, broken, "claim a, use a, release a"},
		{"error with a broken session", []*fakeSession{{name: "a", releaseFails: true}}, []error{broken}, nil, broken, "claim a, use a, release a, close a"},
		{"ErrStale on an idle session", []*fakeSession{{name: "a"}}, []error{ErrStale}, nil, nil, "claim a, use a, abort a, restarted, open, use new, release new"},
		{"ErrStale on a new session", nil, []error{ErrStale}, nil, ErrStale, "open, use new, release new"},
		{"no new session", nil, nil, broken, broken, "open"},
		{"busy server, no other request", nil, nil, fetch.TryLater, fetch.TryLater, "open"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Pool[*fakeSession]{Done: t.Context().Done(), WaitTimeout: time.Minute}
				var log []string
				for _, f := range c.idle {
					f.log = &log
					p.Put("k", f)
				}
				trace := &trace.Trace{Restart: func() { log = append(log, "restarted") }}
				err := p.Do(t.Context(), "k", trace, func() (*fakeSession, error) {
					log = append(log, "open")
					return &fakeSession{name: "new", log: &log}, c.open
				}, func(l *Lease[*fakeSession]) error {
					l.Session.add("use")
					if len(c.use) > 0 {
						var err error
						err, c.use = c.use[0], c.use[1:]
						return err
					}
					l.End(true)
					l.End(false) // has no effect after End(true)
					return nil
				})
				if got := strings.Join(log, ", "); err != c.want || got != c.log {
					t.Errorf("got %v, %s\nwant %v, %s", err, got, c.want, c.log)
				}
			})
		})
	}
}

// TestDoCanceled tests that Do returns the cause of a cancellation and does not
// reuse the session.
func TestDoCanceled(t *testing.T) {
	cause := errors.New("why")
	for at, want := range map[string]string{
		"open": "close new", "use": "abort new, abort new", "after use": "abort new, abort new", "end": "abort new",
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &Pool[*fakeSession]{Done: t.Context().Done()}
			var log []string
			ctx, cancel := context.WithCancelCause(t.Context())
			end := func(now string) {
				if at == now {
					cancel(cause)
					synctest.Wait()
				}
			}
			var lease *Lease[*fakeSession]
			err := p.Do(ctx, "k", nil, func() (*fakeSession, error) {
				end("open")
				return &fakeSession{name: "new", log: &log}, nil
			}, func(l *Lease[*fakeSession]) error {
				lease = l
				end("use")
				if ctx.Err() != nil {
					return net.ErrClosed
				}
				return nil
			})
			if (at == "open" || at == "use") != (err == cause) {
				t.Errorf("%s: got %v", at, err)
			}
			end("after use")
			if lease != nil {
				lease.End(at == "after use")
			}
			if _, ok := p.popIdle("k"); ok || len(p.idle)+len(p.servers) > 0 {
				t.Errorf("%s: the pool has kept a session", at)
			}
			if got := strings.Join(log, ", "); got != want {
				t.Errorf("%s: got %s, want %s", at, got, want)
			}
			cancel(nil)
		})
	}
}

// TestReplace tests that a request continues on another session and that the
// first session is not reused.
func TestReplace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pool[*fakeSession]{Done: t.Context().Done()}
		var log []string
		a, b := &fakeSession{name: "a", log: &log}, &fakeSession{name: "b", log: &log}
		open := func(f *fakeSession, err error) func() (*fakeSession, error) {
			return func() (*fakeSession, error) { return f, err }
		}
		err := p.Do(t.Context(), "k", nil, open(a, nil), func(l *Lease[*fakeSession]) error {
			l.Rekey("k\x00other")
			err := l.Replace(open(b, nil))
			l.Session.add("use")
			l.End(true)
			return err
		})
		if got := strings.Join(log, ", "); err != nil || got != "close a, use b, release b" {
			t.Errorf("got %v, %s", err, got)
		}
		if s, ok := p.popIdle("k\x00other"); !ok || s != b {
			t.Error("the new session is not idle under the new key")
		}
		err = p.Do(t.Context(), "k", nil, open(a, nil), func(l *Lease[*fakeSession]) error {
			return l.Replace(open(nil, io.EOF))
		})
		if err != io.EOF || p.servers["k"] != nil {
			t.Errorf("got %v", err)
		}
	})
}

// TestWaitForSession tests that requests wait for a session in use if the
// server accepts no more sessions.
func TestWaitForSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Pool[*fakeSession]{Done: t.Context().Done(), WaitTimeout: time.Minute}
		var log []string
		only := &fakeSession{name: "only", log: &log}
		var opened atomic.Bool
		open := func() (*fakeSession, error) {
			if opened.Swap(true) {
				return nil, fetch.TryLater
			}
			return only, nil
		}
		var tasks sync.WaitGroup
		for i := range 5 {
			tasks.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				err := p.Do(t.Context(), "k", nil, open, func(l *Lease[*fakeSession]) error {
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
		p.Do(t.Context(), "k", nil, open, func(l *Lease[*fakeSession]) error {
			if err := p.Do(t.Context(), "k", nil, open, nil); err != fetch.TryLater || time.Since(start) != time.Minute {
				t.Errorf("got %v after %v, want a wait of one minute", err, time.Since(start))
			}
			l.End(false)
			return nil
		})
		if len(p.idle)+len(p.servers) > 0 {
			t.Errorf("%d keys and %d servers are left", len(p.idle), len(p.servers))
		}
	})
}

// A scarceSession is a session of a server that accepts one session at a time.
// The server notices with a delay that a session was closed.
type scarceSession struct {
	noopSession
	open *atomic.Int32
}

func (s *scarceSession) Abort() { s.Close() }
func (s *scarceSession) Close() error {
	time.AfterFunc(100*time.Millisecond, func() { s.open.Add(-1) })
	return nil
}

// TestFullServer tests that requests with different keys share a server that
// accepts one session, but never the session.
func TestFullServer(t *testing.T) {
	for _, c := range []struct {
		name     string
		keys     []string
		parallel bool
		fails    int
	}{
		{"same server", []string{"h\x00typed", "h\x00link", "h\x00typed"}, false, 0},
		{"same server, at once", []string{"h\x00typed", "h\x00link", "h\x00other", "h\x00typed", "h\x00link"}, true, 0},
		{"another server", []string{"h\x00typed", "i\x00link", "h\x00typed"}, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Pool[*scarceSession]{Done: t.Context().Done(), WaitTimeout: time.Minute}
				var open, failed atomic.Int32
				do := func(key string) {
					err := p.Do(t.Context(), key, nil, func() (*scarceSession, error) {
						if !open.CompareAndSwap(0, 1) {
							return nil, fetch.TryLater
						}
						return &scarceSession{open: &open}, nil
					}, func(l *Lease[*scarceSession]) error {
						time.Sleep(time.Second)
						l.End(true)
						return nil
					})
					if err != nil {
						failed.Add(1)
					}
				}
				var tasks sync.WaitGroup
				for _, key := range c.keys {
					tasks.Go(func() { do(key) })
					if !c.parallel {
						tasks.Wait()
					}
				}
				tasks.Wait()
				if n := int(failed.Load()); n != c.fails || len(p.servers) > 0 {
					t.Errorf("%d requests failed, want %d; %d servers are left", n, c.fails, len(p.servers))
				}
			})
		})
	}
}

// TestBody tests how a body ends its lease.
func TestBody(t *testing.T) {
	lost := errors.New("lost")
	for _, c := range []struct {
		name string
		r    io.Reader
		read int // number of bytes, or -1 for all
		err  error
		log  string
	}{
		{"empty", nil, -1, nil, "release s"},
		{"complete", strings.NewReader("hello"), -1, nil, "release s"},
		{"closed early", strings.NewReader("hello"), 2, nil, "abort s"},
		{"not read", strings.NewReader("hello"), 0, nil, "abort s"},
		{"broken", io.MultiReader(strings.NewReader("hel"), errReader{lost}), -1, fetch.Truncated, "abort s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Pool[*fakeSession]{Done: t.Context().Done()}
				var log []string
				var body io.ReadCloser
				p.Do(t.Context(), "k", nil, func() (*fakeSession, error) { return &fakeSession{name: "s", log: &log}, nil }, func(l *Lease[*fakeSession]) error {
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

type errReader struct{ err error }

func (f errReader) Read([]byte) (int, error) { return 0, f.err }

// TestConcurrentLeases tests that a session has one user at a time, and that no
// session is left after Done.
func TestConcurrentLeases(t *testing.T) {
	done := make(chan struct{})
	p := &Pool[*ownedSession]{MaxIdlePerKey: 3, Done: done}
	var tasks sync.WaitGroup
	for i := range 8 {
		tasks.Go(func() {
			for n := range 300 {
				ctx, cancel := context.WithCancel(context.Background())
				p.Do(ctx, strconv.Itoa(n%2), nil, func() (*ownedSession, error) { return new(ownedSession), nil }, func(l *Lease[*ownedSession]) error {
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
			used := 0
			for _, sv := range p.servers {
				used += sv.leased + sv.waiting + sv.answered + sv.reused + len(sv.delayed)
			}
			if left > 0 || len(p.idle) > 0 || used > 0 {
				t.Errorf("%d sessions and %d keys are left, servers %v", left, len(p.idle), p.servers)
			}
			return
		}
	}
}

type ownedSession struct {
	noopSession
	busy sync.Mutex
}

func (*ownedSession) Close() error { return nil }
