package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/uri"
)

func TestBodyLength(t *testing.T) {
	for _, c := range []struct {
		name, sent string
		size       int64
		rng        Range
		max        int64
		want       string
		fault      Fault
	}{
		{"whole", "hello", 5, Range{}, 0, "hello", 0},
		{"short", "hell", 5, Range{}, 0, "hell", Truncated},
		{"long", "hello!", 5, Range{}, 0, "hello", Protocol},
		{"unknown", "hello", -1, Range{}, 0, "hello", 0},
		{"range", "he", 5, Range{0, 2}, 0, "he", 0},
		{"suffix with an ignored end", "hello", 5, Range{-5, 2}, 0, "hello", 0},
		{"short range", "h", 5, Range{0, 2}, 0, "h", Truncated},
		{"server without ranges", "hello", 5, Range{1, 2}, 0, "hello", 0},
		{"limit", "hello", -1, Range{}, 4, "hell", TooLarge},
		{"at the limit", "hello", -1, Range{}, 5, "hello", 0},
	} {
		cl := New(Options{Policy: Policy{MaxBody: c.max}, Dial: (&recorder{}).dial}, page(func(_ *Request, resp *Response) {
			text(resp, c.sent)
			resp.Size = c.size
		}))
		resp, err := cl.Do(t.Context(), &Request{URL: uri.MustParse("http://u:secret@8.8.8.8/"), Range: c.rng})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if string(got) != c.want || FaultOf(err) != c.fault || err != nil && strings.Contains(fmt.Sprint(err), "secret") {
			t.Errorf("%s: got %q, %v", c.name, got, err)
		}
		if c.fault == Truncated && !strings.Contains(err.Error(), fmt.Sprintf("received %d of %d bytes", len(c.sent), len(c.sent)+1)) {
			t.Errorf("%s: no byte counts in %v", c.name, err)
		}
		if _, again := resp.Body.Read(make([]byte, 1)); err != nil && again != err {
			t.Errorf("%s: the error did not stick: %v", c.name, again)
		}
		resp.Body.Close()
		cl.Close()
	}
}

// TestSlowDrip checks that a server that is slower than MinRate causes a timeout
// after the period Idle.
func TestSlowDrip(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy Policy
		after  time.Duration // 0 means no timeout
	}{
		{"defaults", Policy{MaxTime: -1}, time.Minute},
		{"another period", Policy{MaxTime: -1, Idle: 10 * time.Second}, 10 * time.Second},
		{"no idle time", Policy{MaxTime: -1, Idle: -1}, time.Minute},
		{"slow enough", Policy{MaxTime: -1, MinRate: 5}, 0},
		{"no minimum", Policy{MaxTime: -1, MinRate: -1}, 0},
	} {
		t.Run(c.name, func(t *testing.T) { slowDrip(t, c.policy, c.after) })
	}
}

func slowDrip(t *testing.T, policy Policy, after time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		var server sync.WaitGroup
		drip := func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
			here, there := net.Pipe()
			server.Go(func() {
				defer there.Close()
				tick := time.NewTicker(time.Second)
				defer tick.Stop()
				for range 300 {
					<-tick.C
					if _, err := there.Write(make([]byte, 5)); err != nil {
						return
					}
				}
			})
			return here, nil
		}
		c := New(Options{Policy: policy, Dial: drip}, page(func(*Request, *Response) {}))
		defer c.Close()
		resp, err := c.Get(t.Context(), "http://8.8.8.8/")
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		n, err := io.Copy(io.Discard, resp.Body)
		took := time.Since(start)
		if timeout := FaultOf(err) == Timeout; timeout != (after > 0) || timeout && took.Round(2*time.Second) != after || n == 0 {
			t.Errorf("got %d bytes, %v after %v", n, err, took)
		}
		resp.Body.Close()
		server.Wait()
	})
}

func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Dial: (&recorder{}).dial}, page(func(*Request, *Response) {}))
		defer c.Close()
		resp, err := c.Get(t.Context(), "http://8.8.8.8/")
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := resp.Body.Read(make([]byte, 1)); FaultOf(err) != Timeout || time.Since(start) != time.Minute {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
		resp.Body.Close()
	})
}

func TestCancelCause(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := New(Options{Dial: (&recorder{}).dial}, page(func(*Request, *Response) {}))
	defer c.Close()
	resp, err := c.Get(ctx, "http://8.8.8.8/")
	if err != nil {
		t.Fatal(err)
	}
	context.AfterFunc(ctx, func() { resp.Body.(*body).ReadCloser.Close() })
	cancel()
	if _, err := resp.Body.Read(make([]byte, 1)); !errors.Is(err, Canceled) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
