package http_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

func planOf(t *testing.T, req *fetch.Request, opts http.Options) (string, error) {
	t.Helper()
	steps, err := fetch.New(fetch.Options{}, http.Schemes(opts)...).Plan(req)
	return schemetest.JoinSteps(steps, "\n"), err
}

func TestPlan(t *testing.T) {
	const agent = "\nUser-Agent: fetch\nAccept: */*"
	date := time.Date(1994, 11, 6, 8, 49, 37, 0, time.UTC)
	for _, test := range []struct {
		name, url string
		req       fetch.Request
		opts      http.Options
		want      string
	}{
		{"path", "http://h/a", fetch.Request{}, http.Options{}, "GET /a HTTP/1.1\nHost: h" + agent},
		{"empty path", "http://h", fetch.Request{}, http.Options{}, "GET / HTTP/1.1\nHost: h" + agent},
		{"empty path with a query", "http://h?q", fetch.Request{}, http.Options{}, "GET /?q HTTP/1.1\nHost: h" + agent},
		{"empty query", "http://h/?", fetch.Request{}, http.Options{}, "GET /? HTTP/1.1\nHost: h" + agent},
		{"fragment", "http://h/a?b#c?d", fetch.Request{}, http.Options{}, "GET /a?b HTTP/1.1\nHost: h" + agent},
		{"path with two leading slashes", "http://h//x/y", fetch.Request{}, http.Options{}, "GET //x/y HTTP/1.1\nHost: h" + agent},
		{"percent-encodings unchanged", "http://h/%7e%2F%41~?%7e=%20+'", fetch.Request{}, http.Options{}, "GET /%7e%2F%41~?%7e=%20+' HTTP/1.1\nHost: h" + agent},
		{"encoded line end stays encoded", "http://h/%0d%0aX:%00", fetch.Request{}, http.Options{}, "GET /%0d%0aX:%00 HTTP/1.1\nHost: h" + agent},
		{"dot segments", "http://h/a/../b/./c/..", fetch.Request{}, http.Options{}, "GET /b/ HTTP/1.1\nHost: h" + agent},
		{"dot segments kept", "http://h/a/../b", fetch.Request{}, http.Options{PathAsIs: true}, "GET /a/../b HTTP/1.1\nHost: h" + agent},
		{"port", "http://h:8080/", fetch.Request{}, http.Options{}, "GET / HTTP/1.1\nHost: h:8080" + agent},
		{"default port", "http://H:080/", fetch.Request{}, http.Options{}, "GET / HTTP/1.1\nHost: H" + agent},
		{"default port of the other scheme", "https://h:80/", fetch.Request{}, http.Options{}, "GET / HTTP/1.1\nHost: h:80" + agent},
		{"ipv6", "http://[2001:DB8::1]:81/", fetch.Request{}, http.Options{}, "GET / HTTP/1.1\nHost: [2001:db8::1]:81" + agent},
		{"stat", "http://h/", fetch.Request{Op: fetch.Stat}, http.Options{}, "HEAD / HTTP/1.1\nHost: h" + agent},
		{"user agent", "http://h/", fetch.Request{}, http.Options{UserAgent: "x/1"}, "GET / HTTP/1.1\nHost: h\nUser-Agent: x/1\nAccept: */*"},
		{"userinfo", "http://al%3Aice:s3cret@h/", fetch.Request{}, http.Options{}, "GET / HTTP/1.1\nHost: h" + agent + "\nAuthorization: ***"},
		{"range", "http://h/", fetch.Request{Range: fetch.Range{First: 5, End: 10}}, http.Options{}, "GET / HTTP/1.1\nHost: h" + agent + "\nRange: bytes=5-9"},
		{"range to the end", "http://h/", fetch.Request{Range: fetch.Range{First: 5}}, http.Options{}, "GET / HTTP/1.1\nHost: h" + agent + "\nRange: bytes=5-"},
		{"range from the end", "http://h/", fetch.Request{Range: fetch.Range{First: -5}}, http.Options{}, "GET / HTTP/1.1\nHost: h" + agent + "\nRange: bytes=-5"},
		{"resume", "http://h/", fetch.Request{Range: fetch.Range{First: 5}, IfSame: `"v1"`}, http.Options{}, "GET / HTTP/1.1\nHost: h" + agent + "\nIf-Range: \"v1\"\nRange: bytes=5-"},
		{"if another, by tag", "http://h/", fetch.Request{IfNot: `W/"v1"`}, http.Options{}, "GET / HTTP/1.1\nHost: h" + agent + "\nIf-None-Match: W/\"v1\""},
		{"if another, by date", "http://h/", fetch.Request{IfNot: "Sun, 06 Nov 1994 08:49:37 GMT"}, http.Options{}, "GET / HTTP/1.1\nHost: h" + agent + "\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"},
		{"since", "http://h/", fetch.Request{Since: date}, http.Options{}, "GET / HTTP/1.1\nHost: h" + agent + "\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"},
		{"before", "http://h/", fetch.Request{Before: date}, http.Options{}, "GET / HTTP/1.1\nHost: h" + agent + "\nIf-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT"},
		{"bearer", "http://h/", fetch.Request{Auth: &fetch.Credential{Token: "t0ken"}}, http.Options{}, "GET / HTTP/1.1\nHost: h" + agent + "\nAuthorization: ***"},
		{"caller's fields", "http://h/", fetch.Request{Header: fields("accept", "text/html", "X-B", "1", "X-Api-Key", "s3cret", "X-B", "2")}, http.Options{},
			"GET / HTTP/1.1\nHost: h\nUser-Agent: fetch\nX-Api-Key: ***\nX-B: 1\nX-B: 2\naccept: text/html"},
		{"missing fields removed", "http://h/", fetch.Request{Header: fields("Cookie", "", "referer", "", "Range", "", "Authorization", "",
			"Accept-Encoding", "")}, http.Options{}, "GET / HTTP/1.1\nHost: h\nUser-Agent: fetch\nAccept: */*"},
		{"default fields removed", "http://h/", fetch.Request{Header: fields("User-Agent", "", "Accept", "", "X-Empty", "")}, http.Options{}, "GET / HTTP/1.1\nHost: h\nX-Empty:"},
		{"caller's host twice", "http://h/", fetch.Request{Header: fields("Host", "a", "host", "b")}, http.Options{}, "GET / HTTP/1.1\nHost: a" + agent},
		{"range of a stat", "http://h/", fetch.Request{Op: fetch.Stat, Range: fetch.Range{First: 1, End: 4}}, http.Options{}, "HEAD / HTTP/1.1\nHost: h" + agent + "\nRange: bytes=1-3"},
		{"caller's host", "http://h/", fetch.Request{Header: fields("Host", "other:99")}, http.Options{}, "GET / HTTP/1.1\nHost: other:99" + agent},
		{"framing fields without a body", "http://h/", fetch.Request{Header: fields("Content-Length", "9", "transfer-encoding", "chunked")}, http.Options{}, "GET / HTTP/1.1\nHost: h" + agent},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.req.URL = uri.MustParse(test.url)
			got, err := planOf(t, &test.req, test.opts)
			if err != nil || got != test.want {
				t.Errorf("%s: got\n%s\n%v, want\n%s", test.url, got, err, test.want)
			}
			if strings.Contains(got, "s3cret") {
				t.Errorf("secret shown: %s", got)
			}
		})
	}
}

func TestPlanErrors(t *testing.T) {
	for _, test := range []struct {
		name, url string
		header    fetch.Header
		want      fetch.Fault
	}{
		{"no host", "http:///a", nil, fetch.BadURL},
		{"no authority", "http:h", nil, fetch.BadURL},
		{"encoded slash in the host", "http://a%2fb/", nil, fetch.BadAddress},
		{"invalid numeric address", "http://2130706433/", nil, fetch.BadAddress},
		{"port above 65535", "http://h:65616/", nil, fetch.BadPort},
		{"line end in a value", "http://h/", fields("X", "a\r\nY: b"), fetch.Usage},
		{"NUL in a value", "http://h/", fields("X", "a\x00"), fetch.Usage},
		{"line end in a name", "http://h/", fields("X\r\nY", "a"), fetch.Usage},
		{"space in a name", "http://h/", fields("X Y", "a"), fetch.Usage},
		{"empty name", "http://h/", fields("", "a"), fetch.Usage},
		{"line end in Host", "http://h/", fields("Host", "a\r\nX: y"), fetch.Usage},
		{"space in Host", "http://h/", fields("Host", "a b"), fetch.Usage},
	} {
		t.Run(test.name, func(t *testing.T) {
			req := newRequest(test.url)
			req.Header = test.header
			if got, err := planOf(t, req, http.Options{}); !errors.Is(err, test.want) {
				t.Errorf("%s: got %q, %v, want %v", test.url, got, err, test.want)
			}
		})
	}
}
