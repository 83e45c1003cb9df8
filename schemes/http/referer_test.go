package http_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/outgoing"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// TestRefererOfCaller checks that a Referer field of the caller is sent without
// login and fragment, in every form of the value. The same applies to a field of
// the program whose requests are recorded.
func TestRefererOfCaller(t *testing.T) {
	for value, want := range map[string]string{
		"http://a/b?c":              "http://a/b?c",
		"http://u:s3cret@a/b#s3":    "http://a/b",
		"https://s3cret@a/#":        "https://a/",
		"ftp://u:s3cret@a/b":        "ftp://a/b",
		"http://a/b@c?d@e":          "http://a/b@c?d@e",
		"//u:s3cret@a/b":            "",
		"u:s3cret@a/":               "",
		"s3cret@a":                  "",
		"http//u:s3cret@a/":         "",
		"/u:s3cret@a/":              "",
		"mailto:s3cret@a":           "",
		"foo:u:s3cret@a/":           "",
		"//a/b":                     "//a/b",
		"/b#s3cret":                 "/b",
		"http://u:s3cret@a/a b#s3":  "",
		"http://a/a b#s3":           "http://a/a b",
		"http://a/a b":              "http://a/a b",
		"any words":                 "any words",
		"http:u:s3cret@a/":          "",
		"http:///u:s3cret@a/":       "",
		"http://u:s3cret@a:port/":   "",
		"http://u:s3cret@@a/":       "",
		"http://u:s3cret\x80@a\xff": "",
	} {
		for _, m := range []*outgoing.Message{nil, message("GET", nil)} {
			s := &script{replies: [][]string{{ok}}}
			req := newRequest("http://h/")
			req.Header, req.Outgoing = fields("Referer", value), m
			if _, _, err := get(t, s.newClient(t, http.Options{}), req); err != nil {
				t.Errorf("%q: %v", value, err)
				continue
			}
			head := s.heads()[0]
			_, got, _ := strings.Cut(head, "Referer: ")
			got, _, _ = strings.Cut(got, "\r\n")
			if got != want || strings.Contains(head, "s3") {
				t.Errorf("%q, outgoing %t: sent %q, want %q", value, m != nil, got, want)
			}
		}
	}
}

// TestProxyHeaderFraming checks that header fields for a proxy that would add
// another field or frame a body are rejected, for requests in absolute form and
// CONNECT.
func TestProxyHeaderFraming(t *testing.T) {
	for _, tunnel := range []bool{false, true} {
		for _, f := range []fetch.Field{
			{Name: "X", Value: "y\r\nZ: w"}, {Name: "X", Value: "y\nZ: w"}, {Name: "X", Value: "y\x00"}, {Name: "X\r\nZ", Value: "w"},
			{Name: "X Y", Value: "w"}, {Name: "", Value: "w"}, {Name: "Content-Length", Value: "5"}, {Name: "transfer-encoding", Value: "chunked"},
			{Name: "Cookie", Value: "a=b"}, {Name: "Authorization", Value: "x"},
		} {
			s := &script{replies: [][]string{{ok}}}
			client := s.newClient(t, http.Options{}, func(o *fetch.Options) {
				o.Proxy = func(fetch.Target) (fetch.Proxy, error) {
					return fetch.Proxy{URL: uri.MustParse("http://proxy:3128"), Tunnel: tunnel, Header: fetch.Header{f}}, nil
				}
			})
			if _, _, err := get(t, client, newRequest("http://h/")); !errors.Is(err, fetch.Usage) {
				t.Errorf("tunnel %v, %q: %v, want a usage error", tunnel, f, err)
			}
			if heads := s.heads(); len(heads) > 0 {
				t.Errorf("tunnel %v, %q: sent %q", tunnel, f, heads)
			}
		}
	}
}
