package gemini

import (
	"bytes"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// FuzzHeader checks that a header is a response or an error with a class, and
// that no control character reaches an error.
func FuzzHeader(f *testing.F) {
	for _, text := range []string{"20 text/plain\r\n", "20\r\n", "31 /a\n", "30 //b/c\r\n", "44 5\r\n", "60 \x1b\r\n", "1", "", "5\xff \r\n"} {
		f.Add([]byte(text))
	}
	req := &fetch.Request{URL: uri.MustParse("gemini://h/a")}
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := parseHeader(text)
		if err == nil {
			var resp *fetch.Response
			if resp, err = h.response(req); err == nil && (h.code/10 == 3) == resp.Location.IsZero() {
				t.Errorf("%q: location %q", text, resp.Location)
			}
		}
		if err != nil && (fetch.FaultOf(err) == fetch.Internal || strings.ContainsAny(err.Error(), "\r\n\x1b\x00\x07")) {
			t.Errorf("%q: got %q", text, err)
		}
	})
}

// FuzzMenu checks that each line of gemtext is one entry, and that links are
// absolute.
func FuzzMenu(f *testing.F) {
	for _, text := range []string{"# a\n=> b c\n", "=>\n=> \n=>x", "```\n=> a\n```\n", "=> gemini://[::\n", "=> http://u:p@h/ x\n\xff"} {
		f.Add([]byte(text))
	}
	base := uri.MustParse("gemini://h/a/b")
	f.Fuzz(func(t *testing.T, text []byte) {
		n := 0
		for e, err := range menu(base, "text/gemini", bytes.NewReader(text)) {
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			if n++; (e.Kind == fetch.Info) != e.URL.IsZero() || e.Kind != fetch.Info && e.URL.Scheme() == "" {
				t.Errorf("%q: got %v", text, e)
			}
		}
		if want := bytes.Count(text, []byte("\n")); n != want && n != want+1 {
			t.Errorf("%q: %d entries", text, n)
		}
	})
}

// FuzzHosts checks that a key is found only in a line of its server.
func FuzzHosts(f *testing.F) {
	f.Add("h:1965 sha256//a 2000-01-01\n", "h:1965")
	f.Add("# h:1965 x\n\nh:1965\nh:1965 y", "h:1965")
	f.Fuzz(func(t *testing.T, text, server string) {
		digest, number, err := find(strings.NewReader(text), server)
		if err != nil || digest == "" {
			return
		}
		line := strings.Split(text, "\n")[number-1]
		if fields := bytes.Fields([]byte(line)); len(fields) < 2 || string(fields[0]) != server || string(fields[1]) != digest {
			t.Errorf("got %q from %q", digest, line)
		}
	})
}

// FuzzSpartan checks that a status line is a response or an error with a class,
// and that the request of each URL is one line.
func FuzzSpartan(f *testing.F) {
	f.Add("2 text/plain\r\n", "/a?b")
	f.Add("3 /x\n", "/%0d%0a")
	f.Add("4 \x1b\r\n", "?%0a")
	f.Fuzz(func(t *testing.T, head, path string) {
		req := &fetch.Request{URL: uri.MustParse("spartan://h/a")}
		resp, err := spartanResponse(req, head)
		if err == nil && (resp.Code == 3) == resp.Location.IsZero() || err == nil && resp.Code == 3 && resp.Location.Host() != "h" {
			t.Errorf("%q: location %q", head, resp.Location)
		}
		if err != nil && (fetch.FaultOf(err) == fetch.Internal || strings.ContainsAny(err.Error(), "\r\n\x1b\x00\x07")) {
			t.Errorf("%q: got %q", head, err)
		}
		u, err := uri.Parse("spartan://h" + path)
		if err != nil {
			return
		}
		if q, err := newSpartanRequest(u); err == nil && (strings.ContainsAny(q.line(), "\r\n\x00") || strings.Count(q.line(), " ") != 2) {
			t.Errorf("%q: sends %q", path, q.line())
		}
	})
}
