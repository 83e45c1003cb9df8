package warc

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/uri"
)

// requestCases are requests with other methods than GET, and the parameters
// that the key of the response has.
var requestCases = []struct {
	name, url, method, media, body string
	want                           string // end of the key
}{
	{"form", "http://h.example/a", "POST", "application/x-www-form-urlencoded", "b=2&a=1%20x&C=%26", "?__wb_method=post&a=1%20x&b=2&c=%26"},
	{"URL with a query", "http://h.example/a?x=1&0=2", "POST", "application/x-www-form-urlencoded", "b=2", "?0=2&__wb_method=post&b=2&x=1"},
	{"empty form", "http://h.example/b", "POST", "application/x-www-form-urlencoded", "", "?&__wb_method=post"},
	{"invalid encoding", "http://h.example/c", "POST", "application/x-www-form-urlencoded", "a=%zz", "?&__wb_method=post"},
	{"truncated encoding", "http://h.example/c1", "POST", "application/x-www-form-urlencoded", "a=%c3", "?&__wb_method=post"},
	{"UTF-8", "http://h.example/d", "POST", "application/x-www-form-urlencoded; charset=utf-8", "a=ü&b=%C3%BC", "?__wb_method=post&a=%C3%BC&b=%C3%BC"},
	{"JSON", "http://h.example/e", "POST", "application/json",
		`{"b":{"c":1.50,"d":[true,null,"x y",{"c":-2}]},"e":"","f":1e21,"g":"a&b=*~'"}`,
		"?__wb_method=post&c.2_=-2&c=1.5&d.2_=null&d.3_=x+y&d=true&f=1e%2b21&g=a%26b%3d*~%27"},
	{"JSON number", "http://h.example/e1", "POST", "application/json", "5", "?=5&__wb_method=post"},
	{"text with JSON", "http://h.example/e2", "POST", "text/plain", `["a",["b"]]`, "?.2_=b&=a&__wb_method=post"},
	{"invalid JSON", "http://h.example/e3", "POST", "application/json", `{"a":`, "?&__wb_method=post"},
	{"multipart form", "http://h.example/f", "POST", "multipart/form-data; boundary=xyz",
		"--xyz\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none two\r\n--xyz\r\nContent-Disposition: form-data; name=\"b\"\r\n\r\n2\r\n--xyz--\r\n",
		"?__wb_method=post&a=one+two&b=2"},
	{"binary", "http://h.example/g", "PUT", "application/octet-stream", "\x00\xff", "?__wb_method=put&__wb_post_data=ap8="},
	{"no media type", "http://h.example/h", "POST", "", "a=b", "?__wb_method=post&__wb_post_data=yt1i"},
	{"no body", "http://h.example/i", "HEAD", "", "", "?__wb_method=head&__wb_post_data="},
	{"long form", "http://h.example/j", "POST", "application/x-www-form-urlencoded", "a=" + strings.Repeat("x", 5000), "?__wb_method=post&a=" + strings.Repeat("x", 4094)},
	{"GET", "http://h.example/k", "GET", "", "", ""},
}

// writeRequests writes the exchanges of requestCases to a WARC file. It checks that
// the Writer returns the keys of its responses.
func writeRequests(t *testing.T) string {
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	var name string
	for i, c := range requestCases {
		capture := Capture{URL: uri.MustParse(c.url), Date: at(c.url, i).Date}
		head := fmt.Sprintf("%s / HTTP/1.1\r\nHost: h.example\r\n", c.method)
		if c.media != "" {
			head += "content-type: " + c.media + "\r\n"
		}
		request, response := capture.Request(text(head+"\r\n"+c.body)), capture.Response(text(plainAnswer))
		group := []*Record{response, request}
		if i%2 == 1 {
			group = []*Record{request, response}
		}
		positions := mustWrite(t, w, group...)
		name = positions[0].File
		path, _, _ := strings.Cut(Key(c.url), "?")
		if got := strings.TrimPrefix(positions[i%2].Line.Key, path); got != c.want {
			t.Errorf("%s: the Writer returns the key %q, want %q", c.name, got, c.want)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir.Name() + "/" + name
}

// TestRequestKeys checks the keys of responses to other methods than GET.
func TestRequestKeys(t *testing.T) {
	var out bytes.Buffer
	path := writeRequests(t)
	if err := Index(&out, path); err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{}
	for line := range strings.Lines(out.String()) {
		l, err := ParseLine(line)
		if err != nil {
			t.Fatal(err)
		}
		keys[l.URL] = l.Key
	}
	for _, c := range requestCases {
		path, _, _ := strings.Cut(Key(c.url), "?")
		if got := strings.TrimPrefix(keys[c.url], path); got != c.want {
			t.Errorf("%s: key %q, want %q", c.name, got, c.want)
		}
	}
}

// TestWarcioRequestKeys compares the index of responses to other methods than
// GET with the index of warcio byte for byte.
func TestWarcioRequestKeys(t *testing.T) {
	node, cli := peer.NeedModule(t, warcio, "warcio", "dist/cli.js")
	path := writeRequests(t)
	var ours bytes.Buffer
	if err := Index(&ours, path); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(run(t, node, cli, "cdx-index", path), "\n")
	slices.Sort(lines)
	mine := strings.SplitAfter(ours.String(), "\n")
	slices.Sort(mine)
	for i := range max(len(lines), len(mine)) {
		if i >= len(lines) || i >= len(mine) || lines[i] != mine[i] {
			t.Errorf("line %d: warcio wrote\n%.300s\ngot\n%.300s", i, lines[min(i, len(lines)-1)], mine[min(i, len(mine)-1)])
		}
	}
}
