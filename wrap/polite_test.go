package wrap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/turn"
)

// busy is a driver that records the maximum number of its open bodies.
type busy struct {
	now, most, all atomic.Int32
	proto          string // Proto of the responses
}

func (b *busy) Do(context.Context, *fetch.Request) (*fetch.Response, error) {
	n := b.now.Add(1)
	b.all.Add(1)
	for m := b.most.Load(); n > m && !b.most.CompareAndSwap(m, n); m = b.most.Load() {
	}
	body := &closing{ReadCloser: io.NopCloser(strings.NewReader("x")), done: func() { b.now.Add(-1) }}
	return &fetch.Response{Body: body, Proto: b.proto}, nil
}

// TestStreams checks that more requests are sent to a server after a response
// with HTTP/2, and only to this server and until a response with HTTP/1.1.
func TestStreams(t *testing.T) {
	for _, c := range []struct {
		name    string
		first   string // protocol of the first response
		proto   string // protocol of all later responses
		url     string // URL of all later requests
		streams int
		most    int32
	}{
		{"HTTP/2", "HTTP/2.0", "HTTP/2.0", "https://h/", 10, 10},
		{"HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "https://h/", 10, 3},
		{"HTTP/2 from the second response", "HTTP/1.1", "HTTP/2.0", "https://h/", 10, 10},
		{"another port of the host", "HTTP/2.0", "HTTP/1.1", "https://h:8443/", 10, 3},
		{"fewer streams than connections", "HTTP/2.0", "HTTP/2.0", "https://h/", 1, 3},
		{"no option", "HTTP/2.0", "HTTP/2.0", "https://h/", 0, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &busy{proto: c.first}
				d := Polite(PoliteOptions{PerHost: 3})(b)
				ctx := turn.With(t.Context(), turn.Limits{Streams: c.streams})
				open, err := d.Do(ctx, request("gopher://h/")) // keeps the state of the host
				if err != nil {
					t.Fatal(err)
				}
				defer open.Body.Close()
				read := func(url string) {
					resp, err := d.Do(ctx, request(url))
					if err != nil {
						t.Error(err)
						return
					}
					time.Sleep(time.Second)
					resp.Body.Close()
				}
				read("https://h/")
				b.proto = c.proto
				var readers sync.WaitGroup
				for range 40 {
					readers.Go(func() { read(c.url) })
				}
				readers.Wait()
				if b.most.Load() != c.most || b.all.Load() != 42 {
					t.Errorf("%d at a time of %d, want %d of 42", b.most.Load(), b.all.Load(), c.most)
				}
				b.proto = "HTTP/1.1"
				read(c.url)
				b.most.Store(0)
				for range 40 {
					readers.Go(func() { read(c.url) })
				}
				readers.Wait()
				if b.most.Load() != 3 {
					t.Errorf("%d at a time after a response with HTTP/1.1", b.most.Load())
				}
			})
		})
	}
}

// TestPerHost checks that a request counts until its body is closed, and that
// all spellings of a host count as one host.
func TestPerHost(t *testing.T) {
	for _, c := range []struct {
		urls []string
		most int32
	}{
		{[]string{"http://h/", "https://H:8443/", "gopher://h./1"}, 2},
		{[]string{"http://[::1]/", "http://[0:0::1]/"}, 2},
		{[]string{"http://a/", "http://b/"}, 4},
		{[]string{"file:///x", "mid:a@b"}, 30}, // URLs without a host are not limited
	} {
		synctest.Test(t, func(t *testing.T) {
			b := &busy{}
			d := Polite(PoliteOptions{})(b)
			var readers sync.WaitGroup
			for i := range 30 {
				readers.Go(func() {
					resp, err := d.Do(t.Context(), request(c.urls[i%len(c.urls)]))
					if err != nil {
						t.Error(err)
						return
					}
					time.Sleep(time.Second) // read slowly
					resp.Body.Close()
					resp.Body.Close()
				})
			}
			readers.Wait()
			if b.most.Load() != c.most || b.all.Load() != 30 {
				t.Errorf("%v: %d at a time of %d, want %d of 30", c.urls, b.most.Load(), b.all.Load(), c.most)
			}
		})
	}
}

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := Polite(PoliteOptions{Delay: time.Second, PerHost: 9})(&busy{})
		began := time.Now()
		for i, at := range []struct {
			url  string
			want time.Duration
		}{
			{"http://a/1", 0}, {"http://b/1", 0}, {"http://a/2", time.Second}, {"http://a/3", 2 * time.Second},
			{"http://b/2", 2 * time.Second}, // the delay has already passed
		} {
			resp, err := d.Do(t.Context(), request(at.url))
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if took := time.Since(began); took != at.want {
				t.Errorf("%d. %s after %v, want %v", i, at.url, took, at.want)
			}
		}
	})
}

// TestDelayOf checks that a change of the delay applies to the next request.
func TestDelayOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		delay := 10 * time.Second
		d := Polite(PoliteOptions{Delay: time.Hour, DelayOf: func(*fetch.Request) time.Duration { return delay }})(&busy{})
		began := time.Now()
		for i, c := range []struct{ delay, want time.Duration }{
			{10 * time.Second, 0}, {10 * time.Second, 10 * time.Second}, {time.Second, 11 * time.Second},
			{5 * time.Second, 16 * time.Second}, {0, 16 * time.Second},
		} {
			delay = c.delay
			resp, err := d.Do(t.Context(), request("http://a/"))
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if took := time.Since(began); took != c.want {
				t.Errorf("request %d after %v, want %v", i, took, c.want)
			}
		}
	})
}

// TestPauseAfterWait checks that requests that wait in the driver for a
// connection are sent with the delay between them.
func TestPauseAfterWait(t *testing.T) {
	for _, c := range []struct {
		name  string
		delay time.Duration
		want  string // times at which the requests are sent
	}{
		{"delay", time.Second, "[0s 10s 11s]"},
		{"no delay", 0, "[0s 10s 10s]"},
		{"long delay", 8 * time.Second, "[0s 10s 18s]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				free := make(chan struct{}) // closed when the first request ends
				time.AfterFunc(10*time.Second, func() { close(free) })
				var mu sync.Mutex
				var requests int
				var sent []time.Duration
				d := Polite(PoliteOptions{Delay: c.delay, PerHost: 3})(fetch.DriverFunc(func(ctx context.Context, _ *fetch.Request) (*fetch.Response, error) {
					mu.Lock()
					requests++
					waits := requests > 1
					mu.Unlock()
					if waits {
						<-free
						turn.Pause(ctx)
					}
					mu.Lock()
					defer mu.Unlock()
					sent = append(sent, time.Since(began))
					return &fetch.Response{Body: io.NopCloser(strings.NewReader(""))}, nil
				}))
				var all sync.WaitGroup
				for range 3 {
					all.Go(func() {
						if resp, err := d.Do(t.Context(), request("http://h/")); err != nil {
							t.Error(err)
						} else {
							resp.Body.Close()
						}
					})
				}
				all.Wait()
				if got := fmt.Sprint(sent); got != c.want {
					t.Errorf("requests at %s, want %s", got, c.want)
				}
			})
		})
	}
}

// TestRule checks the delay and the error of a Rule.
func TestRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rule := func(_ context.Context, req *fetch.Request) (time.Duration, error) {
			if req.URL.Path() == "/private" {
				return 0, fetch.Denied.Errorf("robots.txt disallows it")
			}
			return 5 * time.Second, nil
		}
		b := &busy{}
		d := Polite(PoliteOptions{Rule: func(fetch.Driver) Rule { return rule }, Delay: time.Second})(b)
		if _, err := d.Do(t.Context(), request("http://h/private")); !errors.Is(err, fetch.Denied) || b.all.Load() != 0 {
			t.Errorf("got %v after %d requests", err, b.all.Load())
		}
		began := time.Now()
		for range 3 {
			resp, err := d.Do(t.Context(), request("http://h/"))
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("took %v, want 10s", took)
		}
	})
}

// TestTurn checks that a request exceeds PerHost when its turn has come.
func TestTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mine := make(chan struct{})
		b := &busy{}
		d := Polite(PoliteOptions{PerHost: 1})(b)
		open, err := d.Do(t.Context(), request("gopher://h/"))
		if err != nil {
			t.Fatal(err)
		}
		ended := 0
		var all sync.WaitGroup
		for _, c := range []chan struct{}{mine, nil} { // the second request has no turn
			all.Go(func() {
				resp, err := d.Do(turn.With(t.Context(), turn.Limits{Turn: c}), request("gopher://h/"))
				if err != nil {
					t.Error(err)
					return
				}
				resp.Body.Close()
				ended++
			})
		}
		for _, step := range []struct {
			name string
			do   func()
			want int // requests that have ended
		}{
			{"before the turn", func() {}, 0},
			{"turn", func() { close(mine) }, 1},
			{"free slot", func() { open.Body.Close() }, 2},
		} {
			step.do()
			if synctest.Wait(); ended != step.want {
				t.Errorf("%s: %d requests have ended, want %d", step.name, ended, step.want)
			}
		}
		all.Wait()
		if n := b.most.Load(); n != 2 {
			t.Errorf("%d requests at a time, want 2", n)
		}
	})
}
