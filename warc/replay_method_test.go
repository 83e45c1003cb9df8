package warc_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/outgoing"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// TestReplayMethod checks that a request with a method and a body receives the
// response to the same request.
func TestReplayMethod(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	w, err := warc.NewWriter(root, warc.Options{Name: "a.warc.gz"})
	if err != nil {
		t.Fatal(err)
	}
	const form, plain, binary = "application/x-www-form-urlencoded", "application/json", "application/octet-stream"
	write := func(method, path, media, body, answer string) {
		u := warc.Capture{URL: uri.MustParse("https://example.org" + path)}
		request := method + " " + path + " HTTP/1.1\r\nHost: example.org\r\n"
		if media != "" {
			request += "Content-Type: " + media + "\r\n"
		}
		_, err := w.Write(u.Response(strings.NewReader("HTTP/1.1 200 OK\r\n\r\n"+answer)), u.Request(strings.NewReader(request+"\r\n"+body)))
		if err != nil {
			t.Fatal(err)
		}
	}
	write("GET", "/api", "", "", "get")
	write("POST", "/api", form, "q=1", "form 1")
	write("POST", "/api", form, "q=2", "form 2")
	write("POST", "/api?x=y", plain, `{"q":[1,"two"]}`, "json")
	write("POST", "/api", binary, "\x00\x01", "binary")
	write("PUT", "/api", form, "q=1", "put")
	write("DELETE", "/api", "", "", "delete")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := warc.Open(filepath.Join(dir, "a.warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	c := fetch.New(fetch.Options{Policy: fetch.Typed()}, a.Schemes(http.Schemes(http.Options{})...)...)
	defer c.Close()
	for _, x := range []struct{ about, method, url, media, body, want string }{
		{"GET", "GET", "https://example.org/api", "", "", "get"},
		{"HEAD", "HEAD", "https://example.org/api", "", "", ""},
		{"a form", "POST", "https://example.org/api", form, "q=1", "form 1"},
		{"another form", "POST", "https://example.org/api", form + "; charset=utf-8", "q=2", "form 2"},
		{"a form that was not recorded", "POST", "https://example.org/api", form, "q=3", "not found"},
		{"JSON with a query", "POST", "https://example.org/api?x=y", plain, `{"q":[1,"two"]}`, "json"},
		{"JSON without the query", "POST", "https://example.org/api", plain, `{"q":[1,"two"]}`, "not found"},
		{"binary", "POST", "https://example.org/api", binary, "\x00\x01", "binary"},
		{"another method", "PUT", "https://example.org/api", form, "q=1", "put"},
		{"no body", "DELETE", "https://example.org/api", "", "", "delete"},
		{"the scheme http", "POST", "http://example.org/api", form, "q=1", "form 1"},
		{"a URL without captures", "POST", "https://example.org/other", form, "q=1", "not found"},
	} {
		m := &outgoing.Message{Method: x.method, Size: int64(len(x.body))}
		if x.body != "" {
			m.Open = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(x.body)), nil }
		}
		req := &fetch.Request{URL: uri.MustParse(x.url), Outgoing: m}
		if x.media != "" {
			req.Header = fetch.Header{{Name: "Content-Type", Value: x.media}}
		}
		got := "not found"
		resp, err := c.Do(t.Context(), req)
		if err == nil {
			text, failed := io.ReadAll(resp.Body)
			resp.Body.Close()
			got, err = string(text), failed
			if x.method == "HEAD" {
				got = ""
			}
		} else if errors.Is(err, fetch.NotFound) {
			err = nil
		}
		if got != x.want || err != nil {
			t.Errorf("%s: %q %v, want %q", x.about, got, err, x.want)
		}
	}
}
