package mirror

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// TestVariants: of one path so many queries are followed, each as often as one
// likes, and of another as many again.
func TestVariants(t *testing.T) {
	t.Parallel()
	j := newJudge(Scope{}, new(fetch.Client).Scheme, []uri.URI{uri.MustParse("http://a.example/")})
	for _, path := range []string{"", "other"} {
		n := 0
		for i := range 3 * maxVariants {
			u := uri.MustParse(fmt.Sprintf("http://a.example/%s?page=%d", path, i%(2*maxVariants)))
			if why, _ := j.link(u, canonical(u), 1, 0, meta{}); why == "" {
				n++
			}
		}
		if n != 2*maxVariants { // the first ones, twice
			t.Errorf("/%s: %d links, want %d", path, n, 2*maxVariants)
		}
	}
}

// TestPeerOfListed checks that the address of a listing counts for a file that
// was not asked for only if both are of one server.
func TestPeerOfListed(t *testing.T) {
	t.Parallel()
	here := netip.MustParseAddr("127.0.0.1")
	for _, c := range []struct {
		url, from string
		resp      *fetch.Response
		want      netip.Addr
	}{
		{"ftp://h.example/a/b.html", "ftp://h.example/a/", nil, here},
		{"ftp://evil.example/b.html", "prospero://h.example/a", nil, netip.Addr{}},
		{"ftp://h.example:2121/b.html", "ftp://h.example/", nil, netip.Addr{}},
		{"http://h.example/", "", nil, netip.Addr{}},
		{"http://h.example/b", "http://h.example/", &fetch.Response{}, netip.Addr{}}, // by a proxy this time
	} {
		v := &visit{url: uri.MustParse(c.url), meta: meta{From: c.from, Peer: here}, resp: c.resp}
		v.origin, v.sited = originOf(v.url)
		if got := v.peer(); got != c.want {
			t.Errorf("%s from %s: got %v, want %v", c.url, c.from, got, c.want)
		}
	}
}
