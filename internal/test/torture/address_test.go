package torture

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/savetest"
)

// TestBrokenAddresses checks that an unreachable address of a name delays a
// transfer by 250 ms instead of a timeout. IPv6 addresses are often
// unreachable.
func TestBrokenAddresses(t *testing.T) {
	const (
		silent6, other6 = "2001:4860:4860::8888", "2001:4860:4860::8844"
		closed6         = "2606:4700:4700::1111" // refuses connections
		open4, silent4  = "8.8.8.8", "1.1.1.1"
	)
	for _, c := range []struct {
		name   string
		addrs  []string
		endsIn fetch.Fault
		took   time.Duration
		dials  int
	}{
		{"one address that works", []string{open4}, 0, 0, 1},
		{"silent ipv6 address", []string{silent6, open4}, 0, 250 * time.Millisecond, 2},
		{"two silent ipv6 addresses", []string{silent6, other6, open4}, 0, 500 * time.Millisecond, 3},
		{"ipv6 address that refuses", []string{closed6, open4}, 0, 0, 2},
		{"silent, refusing and working address", []string{silent6, closed6, open4}, 0, 250 * time.Millisecond, 3},
		{"first address that works", []string{open4, silent6}, 0, 0, 1},
		{"two silent addresses", []string{silent6, silent4}, fetch.Timeout, 10*time.Second + 250*time.Millisecond, 2},
		{"refusing and silent address", []string{closed6, silent4}, fetch.Connect, 10 * time.Second, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scenario{name: c.name, url: "http://example.com/length", endsIn: c.endsIn}
				tr := &trial{scenario: s, attempts: 1, disk: &savetest.FS{}, conn: faultnet.Broken}
				tr.change = func(w *world, _ *fetch.Options) {
					w.names["example.com"] = nil
					for _, text := range c.addrs {
						a := netip.MustParseAddr(text)
						w.names["example.com"] = append(w.names["example.com"], a)
						w.silent[a] = text != open4 && text != closed6
					}
				}
				o := tr.run(t)
				if fetch.FaultOf(o.err) != c.endsIn || o.took != c.took || o.dials != c.dials {
					t.Errorf("%v after %v and %d dials, want %v after %v and %d", o.err, o.took, o.dials, c.endsIn, c.took, c.dials)
				}
				tr.checkInvariants(t, o, o)
			})
		})
	}
}
