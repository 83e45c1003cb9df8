package wrap

import (
	"context"
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

// A distantServer serves a number of requests at the same time.
type distantServer struct {
	now, most, rejected atomic.Int32
	proto               string
	wait                time.Duration // time until a response
	serves              int           // number of requests that are served at the same time; 0 means no limit
	reject              int32         // number of concurrent requests, above which they are rejected; 0 means no limit
	places              chan struct{} // requests that are served
}

func (s *distantServer) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	n := s.now.Add(1)
	for m := s.most.Load(); n > m && !s.most.CompareAndSwap(m, n); m = s.most.Load() {
	}
	if s.places != nil {
		s.places <- struct{}{}
		defer func() { <-s.places }()
	}
	if s.reject == 0 || n <= s.reject {
		time.Sleep(s.wait)
	} else { // at once, so that the next request can follow at once
		s.now.Add(-1)
		if s.rejected.Add(1)%2 == 0 {
			err := fetch.TryLater.Errorf("too many requests")
			return &fetch.Response{Body: io.NopCloser(strings.NewReader("x")), Proto: s.proto, Fault: err}, nil
		}
		return nil, fetch.TryLater.Errorf("too many requests")
	}
	body := &endingBody{Reader: strings.NewReader("x"), done: sync.OnceFunc(func() { s.now.Add(-1) })}
	return &fetch.Response{Body: body, Proto: s.proto}, nil
}

// An endingBody calls done at its end, before Read returns.
type endingBody struct {
	io.Reader
	done func()
}

func (b *endingBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil {
		b.done()
	}
	return n, err
}

func (b *endingBody) Close() error {
	b.done()
	return nil
}

// TestGrowth checks the number of concurrent requests to distant servers, to near
// ones, and to servers that do not serve more requests.
func TestGrowth(t *testing.T) {
	const far = 20 * time.Millisecond
	options := PoliteOptions{PerHost: 6, MaxPerHost: 50}
	for _, c := range []struct {
		name       string
		o          PoliteOptions
		s          *distantServer
		proto, url string
		most, last int32 // largest number, and largest number at the end
	}{
		{"distant", options, &distantServer{wait: far}, "HTTP/1.1", "http://h/", 50, 50},
		{"near", options, &distantServer{wait: time.Millisecond}, "HTTP/1.1", "http://h/", 6, 6},
		{"no maximum", PoliteOptions{PerHost: 6}, &distantServer{wait: far}, "HTTP/1.1", "http://h/", 6, 6},
		{"smaller maximum", PoliteOptions{PerHost: 6, MaxPerHost: 4}, &distantServer{wait: far}, "HTTP/1.1", "http://h/", 6, 6},
		{"maximum between", PoliteOptions{PerHost: 6, MaxPerHost: 7}, &distantServer{wait: far}, "HTTP/1.1", "http://h/", 7, 7},
		{"two requests", PoliteOptions{PerHost: 2, MaxPerHost: 50}, &distantServer{wait: far}, "HTTP/1.0", "http://h/", 50, 50},
		{"serves one request", options, &distantServer{wait: far, serves: 1}, "HTTP/1.1", "http://h/", 12, 6},
		{"serves 20 requests", options, &distantServer{wait: far, serves: 20}, "HTTP/1.1", "http://h/", 48, 24},
		{"rejects 10 requests", options, &distantServer{wait: far, reject: 10}, "HTTP/1.1", "http://h/", 12, 6},
		{"rejects 30 requests", options, &distantServer{wait: far, reject: 30}, "HTTP/1.1", "http://h/", 48, 24},
		{"HTTP/2", options, &distantServer{wait: far}, "HTTP/2.0", "https://h/", 6, 6},
		{"another protocol", options, &distantServer{wait: far}, "", "gopher://h/", 6, 6},
		{"another server of the host", options, &distantServer{wait: far}, "HTTP/1.1", "http://h:8080/", 6, 6},
		{"minimum time", PoliteOptions{PerHost: 6, MaxPerHost: 50, Delay: time.Millisecond}, &distantServer{wait: far}, "HTTP/1.1", "http://h/", 6, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.s.proto = c.proto
				if c.s.serves > 0 {
					c.s.places = make(chan struct{}, c.s.serves)
				}
				d := Polite(c.o)(c.s)
				open, err := d.Do(t.Context(), request("http://h/")) // selects the server that may grow
				if err != nil {
					t.Fatal(err)
				}
				var accepted atomic.Int32
				ctx := turn.With(t.Context(), turn.Limits{More: func() { accepted.Add(1) }})
				least := c.most
				if c.s.reject > 0 { // the first rejected request ends the growth
					least = c.s.reject + 1
				}
				if most := c.s.send(ctx, d, c.url, 1500); most > c.most || most < least {
					t.Errorf("%d requests at a time, want %d to %d", most, least, c.most)
				}
				if most := c.s.send(ctx, d, c.url, 500); most != c.last {
					t.Errorf("%d requests at a time at the end, want %d", most, c.last)
				}
				if n := c.s.rejected.Load(); n > c.most-c.s.reject {
					t.Errorf("%d requests were rejected", n)
				}
				if grown := accepted.Load() > 0; grown != (c.most > int32(c.o.PerHost)) {
					t.Errorf("More was called %d times", accepted.Load())
				}
				open.Body.Close()
			})
		})
	}
}

// send sends n requests, of which 100 wait or are in progress, and returns the
// largest number of those in progress.
func (s *distantServer) send(ctx context.Context, d fetch.Driver, url string, n int) (most int32) {
	left := make(chan struct{}, n)
	for range n {
		left <- struct{}{}
	}
	close(left)
	s.most.Store(0)
	var readers sync.WaitGroup
	for range 100 {
		readers.Go(func() {
			for range left {
				if resp, err := d.Do(ctx, request(url)); err == nil {
					io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			}
		})
	}
	readers.Wait()
	return s.most.Load()
}
