package http

import (
	"context"
	"crypto/tls"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// A slowNet resolves the host slow.test in an hour, and every other name at once.
type slowNet struct{ raceNet }

func (n slowNet) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if addr == "slow.test:443" {
		n.resolve = time.Hour
	}
	return n.raceNet.DialContext(ctx, network, addr)
}

// TestHTTP3SlowAlternative checks that TCP does not wait for the name of an
// alternative service.
func TestHTTP3SlowAlternative(t *testing.T) {
	for _, c := range []struct {
		name  string
		addrs []string
		ends  time.Duration
	}{
		{"own address", []string{"a.test:443"}, 10 * time.Millisecond},
		{"slow name", []string{"slow.test:443", "a.test:443"}, 220 * time.Millisecond},
		{"slow name after an address without HTTP/3", []string{"b.test:443", "slow.test:443"}, 220 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			took := map[string]time.Duration{"a.test:443": 10 * time.Millisecond, "b.test:443": -10 * time.Millisecond}
			h := h3{env: fetch.Env{Net: slowNet{}}, transport: raceTransport{took: took}}
			h.tcp = func(ctx context.Context, _, _ string) (*tcpConn, error) {
				if err := wait(ctx, 20*time.Millisecond); err != nil {
					return nil, err
				}
				return &tcpConn{Conn: tls.Client(raceConn{}, nil)}, nil
			}
			_, _, err := h.race(t.Context(), "", nil, &wireRequest{address: "a.test:443"}, c.addrs)
			if ends := time.Since(start); ends != c.ends || err != nil && err != errNoHTTP3 {
				t.Errorf("%s: %v after %v, want %v", c.name, err, ends, c.ends)
			}
		})
	}
}
