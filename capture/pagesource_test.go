package capture_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/anyurl/fetch/capture"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// TestPageSource checks which document counts as the source of the requests of a
// page in a private network. Its frames are pages of a public server, and of
// another private one.
func TestPageSource(t *testing.T) {
	const page, evil = "http://intra.example/page", "http://evil.example/frame"
	for _, c := range []struct {
		name      string
		redirects string // URL and address of a redirecting server, and its Location
		url       string
		fields    string // of the request
		want      string // URL and address of the source
	}{
		{"part of the page", "", "http://10.0.0.7/x", "Referer: http://intra.example/", "http://intra.example/page 10.0.0.5"},
		{"script of the page", "", "http://10.0.0.7/x", "Origin: http://intra.example; Referer: http://intra.example/page", "http://intra.example/page 10.0.0.5"},
		{"server of the page, without a referrer", "", "http://intra.example/x", "", "http://intra.example/page 10.0.0.5"},
		{"another port of the page, without a referrer", "", "http://intra.example:8080/x", "", "http:"},
		{"without a referrer", "", "http://10.0.0.7/x", "", "http:"},
		{"opaque origin", "", "http://10.0.0.7/x", "Origin: null", "http:"},
		{"public frame", "", "http://10.0.0.7/x", "Referer: " + evil, "http://evil.example:80/ 8.8.8.8"},
		{"script of a public frame", "", "http://10.0.0.7/x", "Origin: http://evil.example; Referer: " + evil, "http://evil.example:80/ 8.8.8.8"},
		{"another port of a public frame", "", "http://evil.example:8080/x", "Referer: " + evil, "http://evil.example:80/ 8.8.8.8"},
		{"frame of a server without a known address", "", "https://evil.example:8443/x", "Referer: https://evil.example/", "https:"},
		{"private frame", "", "http://10.0.0.7/x", "Referer: http://other.example/", "http://other.example:80/ 10.0.0.6"},
		{"redirect of a public server", evil + " 8.8.8.8 http://10.0.0.7/y", "http://10.0.0.7/x", "Referer: " + page, "http://evil.example:80/ 8.8.8.8"},
		{"redirect of a public server to another one", evil + " 8.8.8.8 http://10.0.0.8/y", "http://10.0.0.7/x", "Referer: " + page, "http://intra.example/page 10.0.0.5"},
		{"script after a redirect of a public server", evil + " 8.8.8.8 http://10.0.0.7/y", "http://10.0.0.7/x", "Origin: http://intra.example", "http://intra.example/page 10.0.0.5"},
		{"redirected script", evil + " 8.8.8.8 http://10.0.0.7/y", "http://10.0.0.7/x", "Origin: null; Referer: " + page, "http://evil.example:80/ 8.8.8.8"},
		{"redirect without a host", evil + " 8.8.8.8 http:///10.0.0.7/y", "http://10.0.0.7/x", "Referer: " + page, "http:"},
		{"redirect that is no URL", evil + " 8.8.8.8 -", "http://10.0.0.7/x", "Referer: " + page, "http:"},
		{"redirect of the page's server", "http://intra.example/to 10.0.0.5 http://10.0.0.7/y", "http://10.0.0.7/x", "Referer: " + page, "http://intra.example/page 10.0.0.5"},
		{"redirect of a private server", "http://other.example/ 10.0.0.6 http://10.0.0.7/y", "http://10.0.0.7/x", "Referer: " + page, "http://other.example:80/ 10.0.0.6"},
		{"redirects of two servers", "http://other.example/ 10.0.0.6 http://10.0.0.7/y " + evil + " 8.8.8.8 http://10.0.0.7/y", "http://10.0.0.7/x", "Referer: " + page, "http:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := capture.NewPageSource(uri.MustParse(page), netip.MustParseAddr("10.0.0.5"))
			respond := func(url, addr, to string) {
				resp := &fetch.Response{Code: 200, Peer: netip.MustParseAddr(addr)}
				if to != "" {
					resp.Code, resp.Header = 302, fetch.Header{{Name: "Location", Value: to}}
					if to != "-" {
						resp.Location = uri.MustParse(to)
					}
				}
				s.Responded(&capture.Exchange{Request: &fetch.Request{URL: uri.MustParse(url)}, Response: resp})
			}
			respond(evil, "8.8.8.8", "")
			respond("http://other.example/", "10.0.0.6", "")
			for list := strings.Fields(c.redirects); len(list) > 0; list = list[3:] {
				respond(list[0], list[1], list[2])
			}
			r := httptest.NewRequest(http.MethodGet, c.url, nil)
			for field := range strings.SplitSeq(c.fields, "; ") {
				if name, value, ok := strings.Cut(field, ": "); ok {
					r.Header.Set(name, value)
				}
			}
			from := s.Of(r, uri.MustParse(c.url))
			got := from.URL.String()
			if from.Peer.IsValid() {
				got += " " + from.Peer.String()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
