package fetch

import (
	"context"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestIdleOfSteadyServer checks that the idle time of a connection starts anew
// with each byte. The pauses of the server are shorter than the idle time.
func TestIdleOfSteadyServer(t *testing.T) {
	for _, c := range []struct {
		idle, pause time.Duration
	}{
		{time.Second, 100 * time.Millisecond},
		{time.Second, 990 * time.Millisecond},
		{1500 * time.Millisecond, 1400 * time.Millisecond},
		{time.Minute, 59500 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			var server sync.WaitGroup
			dial := func(context.Context, string, netip.AddrPort) (net.Conn, error) {
				here, there := net.Pipe()
				server.Go(func() {
					defer there.Close()
					for range 30 {
						time.Sleep(c.pause)
						if _, err := there.Write([]byte("x")); err != nil {
							return
						}
					}
					io.Copy(io.Discard, there) // until the client closes the connection
				})
				return here, nil
			}
			client := New(Options{Policy: Policy{Idle: c.idle, MinRate: -1, MaxTime: -1}, Dial: dial}, page(func(*Request, *Response) {}))
			defer client.Close()
			resp, err := client.Get(t.Context(), "http://8.8.8.8/")
			if err != nil {
				t.Fatal(err)
			}
			defer server.Wait()
			defer resp.Body.Close()
			start := time.Now()
			n, err := io.Copy(io.Discard, resp.Body)
			if took := time.Since(start); n != 30 || FaultOf(err) != Timeout || took != 30*c.pause+c.idle {
				t.Errorf("idle %v, a byte each %v: %d bytes, %v after %v", c.idle, c.pause, n, err, took)
			}
		})
	}
}
