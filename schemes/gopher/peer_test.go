package gopher_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/gopher"
)

func schemes() []fetch.Scheme { return gopher.Schemes(gopher.Options{}) }

func client(t *testing.T, change ...func(*fetch.Options)) *fetch.Client {
	t.Helper()
	return clientOf(t, gopher.Options{}, change...)
}

func clientOf(t *testing.T, o gopher.Options, change ...func(*fetch.Options)) *fetch.Client {
	return schemetest.NewClient(t, gopher.Schemes(o), change...)
}

func get(t *testing.T, c *fetch.Client, url string) (*fetch.Response, string) {
	t.Helper()
	resp, body, err := schemetest.Read(t, c, url)
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return resp, body
}

func entries(t *testing.T, c *fetch.Client, url string) []fetch.Entry {
	t.Helper()
	all, err := schemetest.List(t, c, url)
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return all
}

func named(t *testing.T, all []fetch.Entry, name string) fetch.Entry {
	t.Helper()
	for _, e := range all {
		if strings.HasPrefix(e.Name, name) {
			return e
		}
	}
	t.Fatalf("no entry %q in %v", name, all)
	return fetch.Entry{}
}

// big is binary data that exceeds all buffers.
var big = bytes.Repeat([]byte("\x00\xff.\r\n.\r\nbinary\n"), 40_000)

func TestGophernicus(t *testing.T) {
	s := peer.Gophernicus(t, peer.GophernicusOptions{})
	s.Put("text.txt", []byte("eins\nzwei\n.\n..drei\n"))
	s.Put("latin.txt", []byte("d\xe9j\xe0 vu\n"))
	s.Put("sub/data.bin", big)
	search := s.Put("cgi-bin/search", []byte("#!/bin/sh\nprintf '0found %s\\t/text.txt\\t127.0.0.1\\t70\\r\\n' \"$SEARCHREQUEST\"\n"))
	if err := os.Chmod(search, 0o755); err != nil {
		t.Fatal(err)
	}
	root := "gopher://" + s.Addr
	c := client(t)

	fetchtest.Run(t, fetchtest.Suite{
		Schemes:  schemes,
		Document: root + "/9/sub/data.bin",
		Body:     big,
		Missing:  root + "/0/nosuch",
		Menu:     root + "/1/sub",
		Names:    []string{".."},
		Rejected: rejectedURLs(s.Addr),
		NoRanges: true,
	})
	if resp, got := get(t, c, root+"/0/text.txt"); got != "eins\r\nzwei\r\n.\r\n..drei\r\n" || resp.Media != "text/plain" || resp.Size != -1 {
		t.Errorf("text: got %q, %s, %d", got, resp.Media, resp.Size)
	}
	if _, got := get(t, c, root+"/0/text.txt%09%09+"); got != "eins\r\nzwei\r\n.\r\n..drei\r\n" {
		t.Errorf("server without Gopher+: got %q", got)
	}
	all := entries(t, c, root)
	if e := named(t, all, "sub"); e.Kind != fetch.Menu || e.URL.String() != root+"/1/sub/" {
		t.Errorf("got %v", e)
	}
	if e := named(t, all, "text.txt"); e.Kind != fetch.Document || e.URL.String() != root+"/0/text.txt" || e.Media != "text/plain" {
		t.Errorf("got %v", e)
	}
	if e := entries(t, c, root+"/7/cgi-bin/search%09blue%20moon")[0]; e.Name != "found blue moon" {
		t.Errorf("search: got %v", e)
	}
	for _, url := range []string{"/0/nosuch", "/1/nosuch/", "/9/nosuch", "/h/nosuch"} {
		if _, err := c.Get(t.Context(), root+url); !errors.Is(err, fetch.NotFound) {
			t.Errorf("%s: got %v, want NotFound", url, err)
		}
	}
	if _, err := c.Get(t.Context(), root+"/7/cgi-bin/search"); !errors.Is(err, fetch.NeedQuery) {
		t.Errorf("search without words: got %v", err)
	}
	if _, err := c.Get(t.Context(), root+"/0/text.txt%09%09!"); !errors.Is(err, fetch.Unsupported) {
		t.Errorf("attributes from a server without Gopher+: got %v", err)
	}
}

func TestPygopherd(t *testing.T) {
	s := peer.Pygopherd(t, peer.PygopherdOptions{TLS: true})
	s.Put("text.txt", []byte("eins\n.\n..zwei\n"))
	s.Put("text.txt.abstract", []byte("a small text\n"))
	s.Put("data.bin", big)
	s.Put("form.txt", []byte("the same for all\n"))
	s.Put("form.txt.ask", []byte("Ask: Your name\nAskL: Your tale\n"))
	s.Put("sub/inner.txt", []byte("inside\n"))
	tlsOption := func(o *fetch.Options) { o.TLS = &tls.Config{RootCAs: s.Cert.Pool, ServerName: "localhost"} }

	for _, scheme := range []string{"gopher", "gophers"} {
		root := scheme + "://" + s.Addr
		t.Run(scheme, func(t *testing.T) {
			fetchtest.Run(t, fetchtest.Suite{
				Schemes:  schemes,
				Options:  fetch.Options{TLS: &tls.Config{RootCAs: s.Cert.Pool, ServerName: "localhost"}},
				Document: root + "/9/data.bin%09%09+",
				Body:     big,
				Missing:  root + "/0/nosuch%09%09+",
				Menu:     root + "/1/",
				Names:    []string{"text", "data", "sub"},
				Rejected: rejectedURLs(s.Addr),
				NoRanges: true,
			})
			c := client(t, tlsOption)
			if resp, got := get(t, c, root+"/0/text.txt%09%09+"); got != "eins\n.\n..zwei\n" || resp.Size != int64(len(got)) || (resp.TLS != nil) != (scheme == "gophers") {
				t.Errorf("text: got %q, %d, TLS %v", got, resp.Size, resp.TLS)
			}
			if got, want := phases(t, c, root+"/0/text.txt"), map[string]string{"gopher": "0 1 3 4", "gophers": "0 1 2 3 4"}[scheme]; got != want {
				t.Errorf("phases %s, want %s", got, want)
			}
			if _, err := c.Get(t.Context(), root+"/0/nosuch"); !errors.Is(err, fetch.NotFound) {
				t.Errorf("missing item, plain request: got %v", err)
			}
			if e := named(t, entries(t, c, root), "text"); e.URL.String() != root+"/0/text.txt" || e.Extra["plus"] != "+" {
				t.Errorf("got %v", e)
			}
			e := named(t, entries(t, c, root+"/1/%09%09$"), "text")
			if e.URL.String() != root+"/0/text.txt" || e.Extra["abstract"] != "a small text" || e.Media != "text/plain" || e.Time.IsZero() {
				t.Errorf("attributes: got %+v", e)
			}
		})
	}
	root := "gopher://" + s.Addr
	u, _ := fetch.ParseURL(root + "/0/text.txt%09%09!")
	resp, err := client(t).Do(t.Context(), &fetch.Request{URL: u, Op: fetch.Stat})
	if err != nil || resp.Header.Get("ABSTRACT") != "a small text" || resp.Time.IsZero() || resp.Media != "text/plain" {
		t.Errorf("stat: got %+v, %v", resp, err)
	}
	c := clientOf(t, gopher.Options{View: "plain"})
	if _, got := get(t, c, root+"/0/text.txt"); got != "eins\n.\n..zwei\n" {
		t.Errorf("view: got %q", got)
	}
	if _, err := clientOf(t, gopher.Options{Lang: "de"}).Get(t.Context(), root+"/0/text.txt"); !errors.Is(err, fetch.NotFound) {
		t.Errorf("missing view: got %v", err)
	}
	var form gopher.Form
	c = clientOf(t, gopher.Options{FillForm: func(_ context.Context, f gopher.Form) ([]string, error) {
		form = f
		return f.Fill(map[string]string{"your name": "Alice", "2": "line one\nline two"}, nil)
	}})
	if _, got := get(t, c, root+"/0/form.txt%09%09?"); got != "the same for all\n" || len(form) != 2 || form[1].Kind != gopher.Text {
		t.Errorf("form: got %q, form %v", got, form)
	}
}

// phases returns the phases that the trace of the exchange for url reports.
func phases(t *testing.T, c *fetch.Client, url string) string {
	var all []string
	u, err := fetch.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	trace := &trace.Trace{Phase: func(p trace.Phase, _ net.Conn) { all = append(all, strconv.Itoa(int(p))) }}
	resp, err := c.Do(t.Context(), &fetch.Request{URL: u, Trace: trace})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return strings.Join(all, " ")
}

// rejectedURLs returns URLs that must not cause a request. Their selectors
// contain commands for another service (RFC 1738 section 6), or they are not
// valid gopher URLs.
func rejectedURLs(addr string) (urls []string) {
	for _, path := range []string{
		"1%0D%0AHELO%20x%0D%0AMAIL%20FROM:%3Ca@b%3E%0D%0ARCPT%20TO:%3Cc@d%3E%0D%0ADATA%0D%0A.%0D%0A",
		"1*1%0d%0a$8%0d%0aFLUSHALL%0d%0a", "0set%20x%200%200%201%0D%0Ay%0D%0A", "9%1b%2512345X%0A@PJL",
		"7a%09b%0D%0Ac", "7a%09b%00", "0x%0a", "0x%0d", "0x%00",
		"0x%09%09+%0D%0A", "0x%09%09+text/plain%0A", "0x%09%09!+INFO%0D%0AQUIT", "0x%09%09$%00", "0x%09%09?x", "0x%09%09DELE",
		"0x%09%09+%091%0D%0A+-1%0D%0Aa%0D%0A.%0D%0AQUIT%0D%0A", "0x%09%09+%091%0D%0AQUIT%0D%0A", "0x%09%09+%091", "0x%09%09+%091%0D%0A+-1%0D%0Aa%0A.%0D%0A",
		"%00", "%0D%0A", "%80", "%20x", "i/x", "3/x", "8user", "hURL:java%20script",
	} {
		urls = append(urls, "gopher://"+addr+"/"+path)
	}
	return append(urls, "gopher:///1x", "gopher:1x", "gopher://127.0.0.1:25/1x", "gopher://127.0.0.1:6379/1x",
		"gopher://127.0.0.1:11211/1x", "gopher://127.0.0.1:9100/1x", "gopher://127.0.0.1:65561/1x", "gopher://127.0.0.1:0/1x")
}
