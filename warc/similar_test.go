package warc

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/outgoing"
	"github.com/anyurl/fetch/uri"
)

// similarCases are requests for the captures of TestSimilar. The captures are
// named after their bodies.
var similarCases = []struct {
	name, method, url, body string
	want, wantSimilar       string // body of the capture, or "" if there is none
}{
	{"captured URL", "GET", "http://h.example/a?id=1&_=5", "", "a1", "a1"},
	{"other time", "GET", "http://h.example/a?id=2&_=99", "", "", "a2"},
	{"other order", "GET", "http://h.example/a?_=99&id=1", "", "", "a1"},
	{"https", "GET", "https://h.example/a?_=99&id=1", "", "", "a1"},
	{"no value captured", "GET", "http://h.example/a?_=99&id=3", "", "", "a2"},
	{"missing parameter", "GET", "http://h.example/a?id=1", "", "", ""},
	{"further parameter", "GET", "http://h.example/a?id=1&_=5&x=1", "", "", ""},
	{"other path", "GET", "http://h.example/b?id=1&_=5", "", "", ""},
	{"path below", "GET", "http://h.example/a/b?id=1&_=5", "", "", ""},
	{"no parameters", "GET", "http://h.example/none", "", "", ""},
	{"captured form", "POST", "http://h.example/a", "x=1&y=2", "p1", "p1"},
	{"similar form", "POST", "http://h.example/a", "y=9&x=2", "", "p2"},
	{"form with other fields", "POST", "http://h.example/a", "z=1", "", ""},
	{"other method", "PUT", "http://h.example/a", "x=1&y=2", "", ""},
}

// TestSimilar replays requests with other methods and similar requests.
func TestSimilar(t *testing.T) {
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	write := func(method, url, body, name string) string {
		c := Capture{URL: uri.MustParse(url), Date: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
		answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", len(name), name)
		sent := method + " / HTTP/1.1\r\nHost: h.example\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n" + body
		return mustWrite(t, w, c.Response(text(answer)), c.Request(text(sent)))[0].File
	}
	write("GET", "http://h.example/a?id=1&_=5", "", "a1")
	write("POST", "http://h.example/a", "x=1&y=2", "p1")
	write("POST", "http://h.example/a", "x=2&y=3", "p2")
	file := write("GET", "http://h.example/a?id=2&_=6", "", "a2")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := Open(dir.Name() + "/" + file)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, c := range similarCases {
		for _, similar := range []bool{false, true} {
			a.Similar = similar
			want := c.want
			if similar {
				want = c.wantSimilar
			}
			if got := answerTo(t, a, c.method, c.url, c.body); got != want {
				t.Errorf("%s, similar %v: %q, want %q", c.name, similar, got, want)
			}
		}
	}
}

// answerTo returns the body of the capture that answers a request, or "" if
// there is none.
func answerTo(t *testing.T, a *Archive, method, url, body string) string {
	t.Helper()
	req := &fetch.Request{URL: uri.MustParse(url), Header: fetch.Header{{Name: "Content-Type", Value: "application/x-www-form-urlencoded"}}}
	req.Outgoing = &outgoing.Message{Method: method, Size: int64(len(body)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(body)), nil
	}}
	resp, err := a.Schemes(fetch.Scheme{Name: "http"})[0].Open(fetch.Env{}).Do(t.Context(), req)
	if errors.Is(err, fetch.NotFound) {
		return ""
	}
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return string(got)
}

// TestSimilarLimit checks that a search does not read many long lines of an index
// from a stranger.
func TestSimilarLimit(t *testing.T) {
	const long = 60_000
	for _, c := range []struct {
		lines int // long lines before the one that matches
		want  string
	}{{maxSimilarBytes / long / 2, "found"}, {maxSimilarBytes/long + 1, ""}} {
		dir := testFolder(t)
		w := testWriter(t, dir, testOptions())
		write := func(query string) string {
			of := Capture{URL: uri.MustParse("http://h.example/a?" + query), Date: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
			return mustWrite(t, w, of.Response(text("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nfound")))[0].File
		}
		for i := range c.lines {
			write(fmt.Sprintf("id=%d&%s", i, strings.Repeat("p", long)))
		}
		file := write("id=x&last=1")
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		a, err := Open(dir.Name() + "/" + file)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		a.Similar = true
		if got := answerTo(t, a, "GET", "http://h.example/a?id=y&last=1", ""); got != c.want {
			t.Errorf("%d long lines: %q, want %q", c.lines, got, c.want)
		}
	}
}
