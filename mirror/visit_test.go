package mirror

import (
	"net/netip"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// TestPeerOfListed checks that a listed file without a request gets the address
// of its listing only if both have the same origin.
func TestPeerOfListed(t *testing.T) {
	t.Parallel()
	here := netip.MustParseAddr("127.0.0.1")
	for _, c := range []struct {
		url, from string
		found     bool
		resp      *fetch.Response
		want      netip.Addr
	}{
		{"ftp://h.example/a/b.html", "ftp://h.example/a/", true, nil, here},
		{"ftp://h.example/a/b.html", "ftp://h.example/a/", false, nil, netip.Addr{}}, // the database may be forged
		{"ftp://evil.example/b.html", "prospero://h.example/a", true, nil, netip.Addr{}},
		{"ftp://h.example:2121/b.html", "ftp://h.example/", true, nil, netip.Addr{}},
		{"http://h.example/", "", true, nil, netip.Addr{}},
		{"http://h.example/b", "http://h.example/", true, &fetch.Response{}, netip.Addr{}}, // from a proxy in this run
	} {
		v := &visit{url: uri.MustParse(c.url), meta: meta{From: c.from, Peer: here, Found: c.found}, resp: c.resp}
		v.origin, _ = originOf(v.url)
		if got := v.peer(); got != c.want {
			t.Errorf("%s from %s: got %v, want %v", c.url, c.from, got, c.want)
		}
	}
}
