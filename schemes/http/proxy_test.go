package http_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

func withProxy(proxy string) func(*fetch.Options) {
	return func(o *fetch.Options) {
		o.Proxy = func(fetch.Target) (fetch.Proxy, error) { return fetch.Proxy{URL: uri.MustParse(proxy)}, nil }
	}
}

// TestProxyOrigins checks that requests for different origins do not share a
// connection to a proxy or gateway.
func TestProxyOrigins(t *testing.T) {
	gateway := func(s *script) *fetch.Client {
		var schemes []fetch.Scheme
		for name, port := range map[string]uint16{"gopher": 70, "ftp": 21} {
			schemes = append(schemes, http.Gateway(fetch.Scheme{Name: name, Port: port, Ports: scheme.Ports{Class: scheme.TextPorts}}, uri.MustParse("http://gw:8080/")))
		}
		return fetch.New(fetch.Options{Policy: fetch.Typed(), Dial: s.dial, Resolver: resolver{}}, schemes...)
	}
	proxy := func(s *script) *fetch.Client { return s.newClient(t, http.Options{}, withProxy("http://proxy:3128")) }
	for _, test := range []struct {
		name  string
		open  func(*script) *fetch.Client
		urls  []string
		conns int
	}{
		{"proxy, one origin", proxy, []string{"http://a/1", "http://a/2"}, 1},
		{"proxy, one origin, other spelling", proxy, []string{"http://a/1", "http://A:80/2"}, 1},
		{"proxy, two hosts", proxy, []string{"http://a/1", "http://b/1"}, 2},
		{"proxy, two ports", proxy, []string{"http://a/1", "http://a:8080/1"}, 2},
		{"proxy, first host again", proxy, []string{"http://a/1", "http://b/1", "http://a/2"}, 2},
		{"gateway, one origin", gateway, []string{"gopher://a/11", "gopher://a/12"}, 1},
		{"gateway, two hosts", gateway, []string{"gopher://a/11", "gopher://b/11"}, 2},
		{"gateway, two schemes", gateway, []string{"gopher://a/11", "ftp://a/1"}, 2},
	} {
		s := &script{replies: [][]string{{ok, ok, ok}, {ok, ok, ok}, {ok, ok, ok}}}
		client := test.open(s)
		for _, url := range test.urls {
			if _, body, err := get(t, client, newRequest(url)); err != nil || body != "hello" {
				t.Errorf("%s: got %q, %v", test.name, body, err)
			}
		}
		client.Close()
		s.serving.Wait()
		if s.conns != test.conns {
			t.Errorf("%s: %d connections, want %d", test.name, s.conns, test.conns)
		}
	}
}

func TestProxy(t *testing.T) {
	for _, test := range []struct {
		name, url string
		policy    fetch.Policy
		line      string
	}{
		{"name", "http://h/a?b#c", fetch.Typed(), "GET http://h/a?b HTTP/1.1\r\nHost: h\r\n"},
		{"port", "http://h:81/", fetch.Typed(), "GET http://h:81/ HTTP/1.1\r\nHost: h:81\r\n"},
		{"path of two slashes", "http://h//x/y", fetch.Typed(), "GET http://h//x/y HTTP/1.1\r\nHost: h\r\n"},
		{"encoded line end", "http://h/%0d%0aX:y", fetch.Typed(), "GET http://h/%0d%0aX:y HTTP/1.1\r\nHost: h\r\n"},
		{"userinfo", "http://u:s3cret@h/", fetch.Typed(), "GET http://h/ HTTP/1.1\r\nHost: h\r\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &script{replies: [][]string{{ok, ok}}}
			client := s.newClient(t, http.Options{}, withProxy("http://al%40ice:pr0xy@proxy:3128"), func(o *fetch.Options) {
				o.Policy = test.policy
			})
			for range 2 {
				resp, body, err := get(t, client, newRequest(test.url))
				if err != nil || body != "hello" || resp.Peer.IsValid() {
					t.Fatalf("got %q, %v, %v", body, resp, err)
				}
			}
			for _, head := range s.heads() {
				if !strings.HasPrefix(head, test.line) || !strings.Contains(head, "\r\nProxy-Authorization: Basic YWxAaWNlOnByMHh5\r\n") {
					t.Errorf("sent %q, want %q", head, test.line)
				}
			}
			if s.conns != 1 {
				t.Errorf("%d connections, want 1", s.conns)
			}
		})
	}
}

// TestProxyECH checks that no DNS query for Encrypted Client Hello names a server
// behind a proxy, also if the address of the server is known.
func TestProxyECH(t *testing.T) {
	page := &fetch.Source{URL: uri.MustParse("https://page/"), Peer: netip.MustParseAddr("8.8.4.4")}
	for _, c := range []struct {
		name, proxy string
		from        *fetch.Source
		queries     int
	}{
		{"typed, no proxy", "", nil, 1},
		{"link, no proxy", "", page, 1},
		{"typed", "http://proxy:3128", nil, 0},
		{"link", "http://proxy:3128", page, 0},
		{"link, https page of the same server", "http://proxy:3128", &fetch.Source{URL: uri.MustParse("https://h/"), Peer: page.Peer}, 0},
	} {
		queries := 0
		ech := &http.ECH{Configs: func(context.Context, string, uint16, string) ([]byte, error) {
			queries++
			return nil, nil
		}}
		s := &script{}
		var changes []func(*fetch.Options)
		if c.proxy != "" {
			s.replies, changes = [][]string{{"HTTP/1.1 200 x\r\n\r\n"}}, []func(*fetch.Options){withProxy(c.proxy)}
		}
		req := newRequest("https://h/")
		req.From = c.from
		if _, _, err := get(t, s.newClient(t, http.Options{ECH: ech}, changes...), req); err == nil || s.connCount() != 1 {
			t.Errorf("%s: %d connections, %v", c.name, s.connCount(), err)
		}
		if queries != c.queries {
			t.Errorf("%s: %d queries, want %d", c.name, queries, c.queries)
		}
	}
}
