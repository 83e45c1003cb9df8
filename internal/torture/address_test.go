package torture

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/internal/savetest"
)

// TestBrokenAddresses: a name one of whose addresses leads nowhere, as that of
// IPv6 does in many a house, costs a quarter of a second, not a timeout.
func TestBrokenAddresses(t *testing.T) {
	const (
		silent6, other6 = "2001:4860:4860::8888", "2001:4860:4860::8844"
		closed6         = "2606:4700:4700::1111" // nobody listens
		open4, silent4  = "8.8.8.8", "1.1.1.1"
	)
	for _, c := range []struct {
		name   string
		addrs  []string
		endsIn fetch.Fault
		took   time.Duration
		dials  int
	}{
		{"all is well", []string{open4}, 0, 0, 1},
		{"ipv6 is silent", []string{silent6, open4}, 0, 250 * time.Millisecond, 2},
		{"two of ipv6 are", []string{silent6, other6, open4}, 0, 500 * time.Millisecond, 3},
		{"ipv6 refuses", []string{closed6, open4}, 0, 0, 2},
		{"silent, refused, well", []string{silent6, closed6, open4}, 0, 250 * time.Millisecond, 3},
		{"the first is well", []string{open4, silent6}, 0, 0, 1},
		{"none answers", []string{silent6, silent4}, fetch.Timeout, 10*time.Second + 250*time.Millisecond, 2},
		{"one refuses, one is silent", []string{closed6, silent4}, fetch.Connect, 10 * time.Second, 2},
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
				tr.judge(t, o, o)
			})
		})
	}
}
