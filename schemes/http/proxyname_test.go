package http_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// TestProxyNames sends requests for a name whose address the policy has checked to
// an HTTP proxy. The server must always get the name in the field Host, because it
// can have several sites.
func TestProxyNames(t *testing.T) {
	const opened, refused = "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 403 Denied\r\nContent-Length: 0\r\n\r\n"
	const tunnel, direct, named = "CONNECT 8.8.8.8:80 - 8.8.8.8:80", "GET / - h", "GET http://h/ - h"
	page := &fetch.Source{URL: uri.MustParse("http://9.9.9.9/")}
	for _, c := range []struct {
		name    string
		policy  fetch.Policy
		from    *fetch.Source
		tunnel  bool
		replies [][]string
		lines   []string // request line without its version, and Host
		want    fetch.Fault
	}{
		{name: "typed", policy: fetch.Typed(), replies: [][]string{{ok, ok}}, lines: []string{named, named}},
		{name: "link", policy: fetch.Typed(), from: page, replies: [][]string{{opened, ok, ok}}, lines: []string{tunnel, direct, direct}},
		{name: "link, tunnel refused", policy: fetch.Typed(), from: page, replies: [][]string{{refused}, {ok, ok}}, lines: []string{tunnel, named, named}},
		{name: "link, option tunnel, refused", policy: fetch.Typed(), from: page, tunnel: true, replies: [][]string{{refused}, {refused}}, lines: []string{tunnel, tunnel}, want: fetch.Connect},
		{name: "public policy", policy: fetch.Public(), replies: [][]string{{opened, ok, ok}}, lines: []string{tunnel, direct, direct}},
		{name: "public policy, tunnel refused", policy: fetch.Public(), replies: [][]string{{refused}, {refused}}, lines: []string{tunnel, tunnel}, want: fetch.Connect},
		{name: "busy proxy", policy: fetch.Typed(), from: page, replies: [][]string{{"HTTP/1.1 503 Busy\r\n\r\n"}, {opened, ok}}, lines: []string{tunnel, tunnel, direct}, want: fetch.Connect},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &script{replies: c.replies}
			client := s.newClient(t, http.Options{}, func(o *fetch.Options) {
				o.Policy = c.policy
				o.Proxy = func(fetch.Target) (fetch.Proxy, error) {
					return fetch.Proxy{URL: uri.MustParse("http://proxy:3128"), Tunnel: c.tunnel}, nil
				}
			})
			for n := range 2 {
				req := newRequest("http://h/")
				req.From = c.from
				_, body, err := get(t, client, req)
				again := n == 1 && c.name == "busy proxy"
				if want := c.want; !again && (fetch.FaultOf(err) != want || want == 0 && body != "hello") {
					t.Errorf("request %d: %q, %v", n, body, err)
				}
			}
			client.Close()
			s.serving.Wait()
			var lines []string
			for _, head := range s.heads() {
				line, fields, _ := strings.Cut(head, " HTTP/1.1\r\n")
				host, _, _ := strings.Cut(strings.TrimPrefix(fields, "Host: "), "\r\n")
				lines = append(lines, line+" - "+host)
			}
			if !slices.Equal(lines, c.lines) {
				t.Errorf("the proxy got %q, want %q", lines, c.lines)
			}
		})
	}
}
