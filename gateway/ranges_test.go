package gateway

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// TestRanges requests ranges of captures.
func TestRanges(t *testing.T) {
	h := newHandler(t, func(o *Options) {
		o.Archives[0].Source = openSample(t,
			sample{"20240101", "http://a.example/movie", "", ok("video/mp4\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT", "0123456789")},
			sample{"20240101", "http://a.example/zipped.mp4", "", ok("video/mp4\r\nContent-Encoding: gzip", zipped("0123456789"))},
			sample{"20240101", "http://a.example/empty", "", ok("video/mp4", "")})
	})
	const movie = "id_/http://a.example/movie"
	partial := func(field string) []string {
		return []string{"Content-Range: bytes " + field, "Accept-Ranges: bytes", "Content-Type: video/mp4", "Memento-Datetime: "}
	}
	for name, c := range map[string]struct {
		target, fields string
		status         int
		body           string
		want           []string
	}{
		"no range":              {movie, "", 200, "0123456789", []string{"Accept-Ranges: bytes", "Content-Length: 10\r\n", "!Content-Range"}},
		"first bytes":           {movie, "Range: bytes=0-3", 206, "0123", partial("0-3/10")},
		"middle":                {movie, "Range: bytes=4-5", 206, "45", append(partial("4-5/10"), "Content-Length: 2\r\n")},
		"start of a player":     {movie, "Range: bytes=0-", 206, "0123456789", partial("0-9/10")},
		"to the end":            {movie, "Range: bytes=7-", 206, "789", partial("7-9/10")},
		"beyond the end":        {movie, "Range: bytes=7-99", 206, "789", partial("7-9/10")},
		"last bytes":            {movie, "Range: bytes=-4", 206, "6789", partial("6-9/10")},
		"after the end":         {movie, "Range: bytes=10-", 416, "", []string{"Content-Range: bytes */10", "Content-Length: 0\r\n"}},
		"two ranges":            {movie, "Range: bytes=0-1,4-5", 200, "0123456789", nil},
		"same date":             {movie, "Range: bytes=9-; If-Range: Mon, 01 Jan 2024 00:00:00 GMT", 206, "9", nil},
		"other date":            {movie, "Range: bytes=9-; If-Range: Tue, 02 Jan 2024 00:00:00 GMT", 200, "0123456789", nil},
		"entity tag":            {movie, `Range: bytes=9-; If-Range: "a"`, 200, "0123456789", nil},
		"video in a page":       {"mp_/http://a.example/movie", "Range: bytes=2-2", 206, "2", partial("2-2/10")},
		"download":              {"/ftp://f.example/pub/file.zip", "Range: bytes=1-1", 206, "K", nil},
		"unknown size":          {"id_/http://a.example/zipped.mp4", "Range: bytes=2-2", 200, "0123456789", []string{"!Accept-Ranges"}},
		"empty object":          {"id_/http://a.example/empty", "Range: bytes=0-", 200, "", nil},
		"archived error":        {"id_/http://a.example/missing", "Range: bytes=1-2", 404, "gone", nil},
		"page with new links":   {"mp_/http://a.example/two?q=1", "Range: bytes=1-2", 200, "<h1>query</h1>", []string{"!Content-Range"}},
		"part of a message":     {"id_;part=2/news://n.example/2@example.org", "Range: bytes=1-2", 200, "PK\x05", nil},
		"redirect of a capture": {"id_/http://a.example/moved", "Range: bytes=1-2", 301, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 { // the second response may come from the cache
				w := get(h, "GET", root+"2024"+c.target, strings.Split(c.fields, "; ")...)
				checkResponse(t, w, c.status, c.want)
				if w.Body.String() != c.body {
					t.Errorf("body %q, want %q", w.Body, c.body)
				}
			}
		})
	}
	if w := get(h, "HEAD", root+"2024"+movie, "Range: bytes=1-2"); w.Code != 200 || w.Header().Get("Content-Length") != "10" {
		t.Errorf("HEAD: %d %v", w.Code, w.Header())
	}
}

// TestLiveRanges requests ranges of objects of servers, also of servers without
// ranges.
func TestLiveRanges(t *testing.T) {
	web := peer.Nginx(t, peer.NginxOptions{Server: "location = /all.mp4 { max_ranges 0; } location = /moved.mp4 { return 301 /a.mp4; }"})
	ftp := peer.Vsftpd(t, peer.FTPOptions{})
	for _, name := range []string{"a.mp4", "all.mp4", "page.html", "a.css"} {
		web.Put(name, []byte("0123456789"))
	}
	ftp.Put("file.bin", []byte("0123456789"))
	h := newLive(t, nil)
	for name, c := range map[string]struct {
		target, field string
		status        int
		body          string
	}{
		"bytes":                  {"/raw/http://" + web.Addr + "/a.mp4", "bytes=4-5", 206, "45"},
		"last bytes":             {"/raw/http://" + web.Addr + "/a.mp4", "bytes=-2", 206, "89"},
		"start of a player":      {"/raw/http://" + web.Addr + "/a.mp4", "bytes=0-", 206, "0123456789"},
		"video in a page":        {"/live;inline/http://" + web.Addr + "/a.mp4", "bytes=4-", 206, "456789"},
		"after the end":          {"/raw/http://" + web.Addr + "/a.mp4", "bytes=10-", 416, ""},
		"server without ranges":  {"/raw/http://" + web.Addr + "/all.mp4", "bytes=4-5", 200, "0123456789"},
		"redirect":               {"/raw/http://" + web.Addr + "/moved.mp4", "bytes=4-5", 301, ""},
		"ftp":                    {"/raw/ftp://" + ftp.Addr + "/file.bin", "bytes=4-5", 206, "45"},
		"ftp, after the end":     {"/raw/ftp://" + ftp.Addr + "/file.bin", "bytes=11-12", 416, ""},
		"page with new links":    {"/live;inline/http://" + web.Addr + "/page.html", "bytes=4-5", 200, "0123456789"},
		"style sheet with links": {"/live;inline/http://" + web.Addr + "/a.css", "bytes=4-5", 200, "0123456789"},
	} {
		t.Run(name, func(t *testing.T) {
			w := get(h, "GET", c.target, "Range: "+c.field)
			if w.Code != c.status || w.Body.String() != c.body {
				t.Errorf("status %d, %q", w.Code, w.Body)
			}
		})
	}
}
