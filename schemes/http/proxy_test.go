package http_test

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

func through(proxy string) func(*fetch.Options) {
	return func(o *fetch.Options) {
		o.Proxy = func(fetch.Target) (fetch.Proxy, error) { return fetch.Proxy{URL: uri.MustParse(proxy)}, nil }
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
		{"the address that the policy saw", "http://h/", fetch.Public(), "GET http://8.8.8.8/ HTTP/1.1\r\nHost: h\r\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &script{replies: [][]string{{ok, ok}}}
			client := s.open(t, http.Options{}, through("http://al%40ice:pr0xy@proxy:3128"), func(o *fetch.Options) {
				o.Policy = test.policy
			})
			for range 2 {
				resp, body, err := get(t, client, ask(test.url))
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
