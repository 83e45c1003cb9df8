package fetch

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/wire/outgoing"
	"github.com/anyurl/fetch/uri"
)

// A pacedBody is a body that yields n bytes after each of its delays. A Read
// ends only with bytes or Close, like a stream of a connection that the server
// keeps busy. Read returns closeErr after Close.
type pacedBody struct {
	n      int
	delays []time.Duration
	closed chan struct{}
	once   sync.Once

	closeErr error
}

func (b *pacedBody) Read(p []byte) (int, error) {
	if len(b.delays) == 0 {
		return 0, io.EOF
	}
	select {
	case <-b.closed:
		return 0, b.closeErr
	case <-time.After(b.delays[0]):
		b.delays = b.delays[1:]
		return min(b.n, len(p)), nil
	}
}

func (b *pacedBody) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// TestStalledBody checks that a Read ends at the limits of the Policy even if
// the Read of the driver does not return.
func TestStalledBody(t *testing.T) {
	const never = 24 * time.Hour
	for _, c := range []struct {
		name   string
		policy Policy
		n      int // bytes that a Read returns
		delays []time.Duration
		pause  time.Duration // of the caller, before each Read
		want   time.Duration // time spent in Read until the timeout; 0 means no timeout
	}{
		{"no byte", Policy{}, 1, []time.Duration{never}, 0, time.Minute},
		{"stall after a fast start", Policy{}, 1 << 20, []time.Duration{time.Second, never}, 0, 61 * time.Second},
		{"stall in the second window", Policy{}, 1 << 20, []time.Duration{50 * time.Second, 50 * time.Second, never}, 0, 160 * time.Second},
		{"slow drip", Policy{}, 5, []time.Duration{20 * time.Second, 20 * time.Second, 30 * time.Second}, 0, 70 * time.Second},
		{"short period", Policy{Idle: time.Second}, 100_000, []time.Duration{900 * time.Millisecond, 900 * time.Millisecond, never}, 0, 2800 * time.Millisecond},
		{"no minimum rate", Policy{MinRate: -1}, 1, []time.Duration{59 * time.Second, 59 * time.Second, never}, 0, 178 * time.Second},
		{"no idle time", Policy{Idle: -1}, 1 << 20, []time.Duration{30 * time.Second, never}, 0, 90 * time.Second},
		{"no limit", Policy{Idle: -1, MinRate: -1}, 1, []time.Duration{time.Hour, time.Hour}, 0, 0},
		{"pauses of the caller", Policy{}, 1 << 20, []time.Duration{time.Second, time.Second, time.Second}, time.Hour, 0},
		{"stall after pauses of the caller", Policy{}, 1 << 20, []time.Duration{time.Second, time.Second, never}, 90 * time.Second, 62 * time.Second},
		{"all bytes at once, after pauses", Policy{}, 1 << 20, []time.Duration{0, 0, 0}, 59 * time.Second, 0},
	} {
		for _, closeErr := range []error{net.ErrClosed, io.EOF} {
			synctest.Test(t, func(t *testing.T) {
				body := newRateBody(&pacedBody{n: c.n, delays: c.delays, closed: make(chan struct{}), closeErr: closeErr}, &c.policy)
				var waited time.Duration
				var err error
				for buffer := make([]byte, 1<<20); err == nil; {
					time.Sleep(c.pause)
					start := time.Now()
					_, err = body.Read(buffer)
					waited += time.Since(start)
				}
				switch timeout := FaultOf(err) == Timeout; {
				case timeout != (c.want > 0), timeout && waited != c.want, !timeout && err != io.EOF:
					t.Errorf("%s: got %v after %v", c.name, err, waited)
				}
				if err := errors.Join(body.Close(), body.Close()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestOutgoingRate checks that the responses to a browser have no minimum rate.
func TestOutgoingRate(t *testing.T) {
	for _, browser := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			open := func(Env) Driver {
				return DriverFunc(func(context.Context, *Request) (*Response, error) {
					delays := slices.Repeat([]time.Duration{50 * time.Second}, 5)
					return &Response{Size: -1, Body: &pacedBody{n: 1, delays: delays, closed: make(chan struct{}), closeErr: net.ErrClosed}}, nil
				})
			}
			c := New(Options{Policy: Typed()}, Scheme{Name: "slow", Port: 80, Ports: scheme.Ports{Class: scheme.WebPorts}, Traits: scheme.Traits{Web: true}, Open: open})
			defer c.Close()
			req := &Request{URL: uri.MustParse("slow://127.0.0.1/")}
			if browser {
				req.Outgoing = &outgoing.Message{Method: "GET"}
			}
			resp, err := c.Do(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if text, err := io.ReadAll(resp.Body); (err == nil) != browser || browser && len(text) != 5 {
				t.Errorf("browser %v: %d bytes, %v", browser, len(text), err)
			}
		})
	}
}
