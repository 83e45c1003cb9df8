package http_test

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes/http"
)

// TestServers retrieves files, ranges and listings of further web servers, over
// each version of HTTP that they support.
func TestServers(t *testing.T) {
	for _, test := range []struct {
		name  string
		start func(t *testing.T) *peer.Server
	}{
		{"h2o", func(t *testing.T) *peer.Server { return peer.H2O(t) }},
		{"Caddy", func(t *testing.T) *peer.Server { return peer.Caddy(t) }},
		{"HAProxy before lighttpd", func(t *testing.T) *peer.Server {
			origin := peer.Lighttpd(t, peer.LighttpdOptions{})
			s := peer.HAProxy(t, origin.Addr)
			s.Root = origin.Root
			return s
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := test.start(t)
			body := noise(300_000)
			s.Put("d/f.bin", body)
			s.Put("d/empty", nil)
			c := realClient(t, s, http.Options{})
			for root, proto := range map[string]string{"http://" + s.Addr: "HTTP/1.1", "https://" + s.TLSAddr: "HTTP/2"} {
				resp, got, err := get(t, c, newRequest(root+"/d/f.bin"))
				if err != nil || got != string(body) || resp.Proto != proto || resp.Validator == "" {
					t.Fatalf("%s: got %d bytes, %v", root, len(got), err)
				}
				part := newRequest(root + "/d/f.bin")
				part.Range, part.IfSame = fetch.Range{First: 1000, End: 299_000}, resp.Validator
				if resp, got, err := get(t, c, part); err != nil || got != string(body[1000:299_000]) || resp.Offset != 1000 {
					t.Errorf("%s: range: got %d bytes, %v", root, len(got), err)
				}
				again := newRequest(root + "/d/f.bin")
				again.IfNot = resp.Validator
				if resp, got, err := get(t, c, again); err != nil || !resp.Unchanged || got != "" {
					t.Errorf("%s: unchanged: got %d bytes, %v", root, len(got), err)
				}
				if _, got, err := get(t, c, newRequest(root+"/d/empty")); err != nil || got != "" {
					t.Errorf("%s: empty file: got %q, %v", root, got, err)
				}
				if _, _, err := get(t, c, newRequest(root+"/none")); fetch.FaultOf(err) != fetch.NotFound {
					t.Errorf("%s: missing: got %v", root, err)
				}
				checkListing(t, c, root+"/d/")
			}
		})
	}
}

// checkListing checks that a directory page lists the two files of TestServers.
func checkListing(t *testing.T, c *fetch.Client, url string) {
	t.Helper()
	resp, err := c.Get(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	names := map[string]bool{}
	for e, err := range resp.Entries() {
		if err != nil {
			t.Errorf("%s: %v", url, err)
		}
		names[e.Name] = true
	}
	if !names["f.bin"] || !names["empty"] {
		t.Errorf("%s lists %v", url, names)
	}
}
