package wrap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// TestPoliteCancel checks that the end of ctx ends the wait for a slot and the
// wait for the delay, and that no slot is lost.
func TestPoliteCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &polite{PoliteOptions: PoliteOptions{PerHost: 1, Delay: time.Minute}, hosts: map[string]*host{}}
		b := &busy{}
		first, err := p.do(t.Context(), b, request("http://h/"), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, closed := range []bool{false, true} {
			if closed { // the request now waits for the delay
				first.Body.Close()
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			began := time.Now()
			if _, err := p.do(ctx, b, request("http://h/"), 0); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
				t.Errorf("got %v after %v", err, time.Since(began))
			}
			cancel()
		}
		time.Sleep(5 * time.Minute)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.do(ended, b, request("http://h/"), 0); !errors.Is(err, context.Canceled) || b.all.Load() != 1 {
			t.Errorf("ended context: got %v after %d requests", err, b.all.Load())
		}
		resp, err := p.do(t.Context(), b, request("http://h/"), 0)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	})
}

// TestPoliteFailure checks that a request that failed or panicked frees its
// slot.
func TestPoliteFailure(t *testing.T) {
	for name, driver := range map[string]fetch.DriverFunc{
		"error": func(context.Context, *fetch.Request) (*fetch.Response, error) { return nil, fetch.Connect },
		"panic": func(context.Context, *fetch.Request) (*fetch.Response, error) { panic(fetch.Connect) },
	} {
		d := Polite(PoliteOptions{PerHost: 1})(driver)
		request := request("http://h/")
		for range 3 {
			func() {
				var err error
				defer func() {
					if p := recover(); p != nil {
						err = p.(error)
					}
					if !errors.Is(err, fetch.Connect) {
						t.Errorf("%s: %v", name, err)
					}
				}()
				_, err = d.Do(t.Context(), request)
			}()
		}
	}
}

// TestPoliteDenied checks that the delay does not apply after a request that the
// Policy denied before a connection was opened.
func TestPoliteDenied(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want time.Duration
	}{
		{"denied address", fetch.BadAddress.With(&fetch.Refusal{}), time.Second},
		{"denied link", fetch.BadReferral.With(&fetch.Refusal{}), time.Second},
		{"denied data port", fetch.BadPort.With(&fetch.Refusal{}), 3 * time.Second},
		{"error of the server", fetch.NotFound, 3 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				d := Polite(PoliteOptions{Delay: time.Second})(fetch.DriverFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
					if n++; n == 1 {
						return &fetch.Response{Body: io.NopCloser(strings.NewReader(""))}, nil
					}
					return nil, c.err
				}))
				start := time.Now()
				for range 4 {
					if resp, err := d.Do(t.Context(), request("http://h/")); err == nil {
						resp.Body.Close()
					}
				}
				if took := time.Since(start); took != c.want {
					t.Errorf("took %v, want %v", took, c.want)
				}
			})
		})
	}
}

// TestIdleHosts checks that the memory for hosts is bounded.
func TestIdleHosts(t *testing.T) {
	if testing.Short() {
		t.Skip("sends thousands of requests")
	}
	synctest.Test(t, func(t *testing.T) {
		for _, delay := range []time.Duration{0, time.Second} {
			p := &polite{PoliteOptions: PoliteOptions{PerHost: 1, Delay: delay}, hosts: map[string]*host{}}
			most := 0
			for i := range 3 * maxHosts {
				resp, err := p.do(t.Context(), &busy{}, request(fmt.Sprintf("http://h%d.example/", i)), 0)
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				most = max(most, len(p.hosts))
				if i%100 == 0 {
					time.Sleep(time.Second)
				}
			}
			if most > maxHosts+1 || delay == 0 && most > 1 {
				t.Errorf("delay %v: %d hosts remembered", delay, most)
			}
		}
	})
}
