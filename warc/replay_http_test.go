package warc

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

func compressWith(t *testing.T, make func(io.Writer) (io.WriteCloser, error), s string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := make(&b)
	if err == nil {
		_, err = io.WriteString(w, s)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestReplayHTTP replays responses with content codings, redirects and
// listings.
func TestReplayHTTP(t *testing.T) {
	deflated := compressWith(t, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, 6) }, "hello")
	zlibbed := compressWith(t, func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil }, "hello")
	zstded := compressWith(t, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }, "hello")
	brotlied := compressWith(t, func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriter(w), nil }, "hello")
	for _, tc := range []struct {
		name, block    string
		body           string
		kind           fetch.Kind
		location       string
		fault, reading error
	}{
		{"zlib", coded("deflate", zlibbed), "hello", fetch.Document, "", nil, nil},
		{"deflate without zlib", coded("deflate", deflated), "hello", fetch.Document, "", nil, nil},
		{"zstd", coded("zstd", zstded), "hello", fetch.Document, "", nil, nil},
		{"two codings", coded("x-gzip, zstd",
			compressWith(t, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
				gzipped("hello"))), "hello", fetch.Document, "", nil, nil},
		{"three codings", coded("gzip, gzip, gzip", ""), "", fetch.Document, "", fetch.Bomb, nil},
		{"brotli", coded("br", brotlied), "hello", fetch.Document, "", nil, nil},
		{"unknown coding", coded("utf-8", "hello"), "hello", fetch.Document, "", nil, nil},
		{"unknown coding after a known one", coded("gzip, aws-chunked", gzipped("hello")), gzipped("hello"), fetch.Document, "", nil, nil},
		{"no coding", coded("identity", "hello"), "hello", fetch.Document, "", nil, nil},
		{"empty body", coded("gzip", ""), "", fetch.Document, "", nil, nil},
		{"body without the declared coding", coded("gzip", "hello, hello, hello"), "hello, hello, hello", fetch.Document, "", nil, nil},
		{"short body without the declared coding", coded("gzip", "hello"), "hello", fetch.Document, "", nil, nil},
		{"large body without the declared coding", coded("br", strings.Repeat("hello\n", 9000)), strings.Repeat("hello\n", 9000), fetch.Document, "", nil, nil},
		{"one of two declared codings", coded("br, gzip", gzipped("hello")), gzipped("hello"), fetch.Document, "", nil, nil},
		{"damage within the coding", coded("gzip", strings.Replace(gzipped("hello"), gzipped("hello")[19:21], "??", 1)), "hello", fetch.Document, "", nil, fetch.Protocol},
		{"truncated coding", coded("gzip", gzipped("hello")[:20]), "hello", fetch.Document, "", nil, fetch.Truncated},
		{"sitemap", answer("HTTP/1.1 200 OK\r\nContent-Type: text/xml", "<?xml?><urlset/>"), "<?xml?><urlset/>", fetch.Menu,
			"", nil, nil},
		{"XML", answer("HTTP/1.1 200 OK\r\nContent-Type: text/xml", "<a/>"), "<a/>", fetch.Document, "", nil, nil},
		{"redirect", answer("HTTP/1.1 302 Found\r\nLocation: ../a?b", ""), "", fetch.Document, "http://h.example/a?b", nil,
			nil},
		{"redirect with invalid characters", answer("HTTP/1.1 302 Found\r\nLocation: /a b\xe9", ""), "", fetch.Document,
			"http://h.example/a%20b%E9", nil, nil},
		{"redirect to a host in UTF-8", answer("HTTP/1.1 302 Found\r\nLocation: //bücher.example/a", ""), "",
			fetch.Document, "http://xn--bcher-kva.example/a", nil, nil},
		{"redirect to an invalid URL", answer("HTTP/1.1 302 Found\r\nLocation: http://[", ""), "", fetch.Document, "", nil,
			nil},
		{"not modified", answer("HTTP/1.1 304 Not Modified", ""), "", fetch.Document, "", nil, nil},
		{"gone", answer("HTTP/1.1 410 Gone", "page"), "page", fetch.Document, "", fetch.NotFound, nil},
		{"authentication required", answer("HTTP/1.1 401 Unauthorized", ""), "", fetch.Document, "", fetch.Auth, nil},
		{"service unavailable", answer("HTTP/1.1 503 Service Unavailable", ""), "", fetch.Document, "", fetch.TryLater, nil},
		{"forbidden", answer("HTTP/1.1 403 Forbidden", ""), "", fetch.Document, "", fetch.Denied, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.warc.gz")
			text := strings.Replace(web(1, "", tc.block), "http://h.example/", "http://h.example/d/", 1)
			if err := os.WriteFile(path, members(text), 0o666); err != nil {
				t.Fatal(err)
			}
			a, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			a.Decode = true
			resp, err := driver{a}.Do(t.Context(), &fetch.Request{URL: uri.MustParse("http://h.example/d/")})
			if err != nil {
				if !errors.Is(err, tc.fault) {
					t.Errorf("got error %v, want %v", err, tc.fault)
				}
				return
			}
			defer resp.Body.Close()
			if !errors.Is(resp.Fault, tc.fault) || resp.Kind != tc.kind || resp.Location.String() != tc.location {
				t.Errorf("got fault %v, kind %s, location %q", resp.Fault, resp.Kind, resp.Location)
			}
			body, err := io.ReadAll(resp.Body)
			if string(body) != tc.body || !errors.Is(err, tc.reading) {
				t.Errorf("got body %q, %v, want %q, %v", body, err, tc.body, tc.reading)
			}
		})
	}
}

// TestReplayMedia replays responses without a Content-Type field.
func TestReplayMedia(t *testing.T) {
	for _, tc := range []struct {
		name, block string
		op          fetch.Op
		raw         bool
		media       string
	}{
		{"page", answer("HTTP/1.1 200 OK", "<html><a href=x>"), fetch.Get, false, "text/html; charset=utf-8"},
		{"compressed page", answer("HTTP/1.1 200 OK\r\nContent-Encoding: gzip", gzipped("<html>")), fetch.Get, false, "text/html; charset=utf-8"},
		{"empty body", answer("HTTP/1.1 200 OK", ""), fetch.Get, false, ""},
		{"other media type", answer("HTTP/1.1 200 OK\r\nContent-Type: a/b", "<html>"), fetch.Get, false, "a/b"},
		{"not modified", answer("HTTP/1.1 304 Not Modified", ""), fetch.Get, false, ""},
		{"error", answer("HTTP/1.1 404 Not Found", "<html>"), fetch.Get, false, ""},
		{"redirect", answer("HTTP/1.1 302 Found\r\nLocation: x", "<html>"), fetch.Get, false, ""},
		{"metadata only", answer("HTTP/1.1 200 OK", "<html>"), fetch.Stat, false, ""},
		{"with the transfer coding", answer("HTTP/1.1 200 OK", "<html>"), fetch.Get, true, ""},
	} {
		path := filepath.Join(t.TempDir(), "a.warc.gz")
		if err := os.WriteFile(path, members(web(1, "", tc.block)), 0o666); err != nil {
			t.Fatal(err)
		}
		a, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		a.Decode, a.Raw = true, tc.raw
		resp, err := driver{a}.Do(t.Context(), &fetch.Request{URL: uri.MustParse("http://h.example/"), Op: tc.op})
		if err != nil {
			t.Fatal(tc.name, err)
		}
		if resp.Body.Close(); resp.Media != tc.media {
			t.Errorf("%s: got media type %q, want %q", tc.name, resp.Media, tc.media)
		}
	}
}

// TestReplayCodings compares the bodies that the fields Decode and Raw select.
func TestReplayCodings(t *testing.T) {
	packed := gzipped("hello")
	chunks := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(packed), packed)
	path := filepath.Join(t.TempDir(), "a.warc.gz")
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked"
	if err := os.WriteFile(path, members(web(1, "", answer(head, chunks))), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name        string
		decode, raw bool
		want        string
	}{
		{"neither", false, false, packed},
		{"Decode", true, false, "hello"},
		{"Raw", false, true, chunks},
		{"Raw has precedence", true, true, chunks},
	} {
		a, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		a.Decode, a.Raw = tc.decode, tc.raw
		resp, err := driver{a}.Do(t.Context(), &fetch.Request{URL: uri.MustParse("http://h.example/")})
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if string(body) != tc.want || err != nil {
			t.Errorf("%s: got %q, %v", tc.name, body, err)
		}
		resp.Body.Close()
		a.Close()
	}
}

func coded(coding, body string) string {
	return answer("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: "+coding, body)
}

// TestFinding verifies that text from an archive is escaped in a Finding.
func TestFinding(t *testing.T) {
	var v verifier
	defer v.close()
	text := strings.Replace(res(1, "\nWARC-Block-Digest: sha1:\x1b[2J"), "urn:x:1", "urn:x:\x1b[2J", 1)
	for f, err := range v.file("a", bytes.NewReader(members(text))) {
		if err != nil {
			t.Fatal(err)
		}
		const want = `a:0: bad-field: WARC-Block-Digest: unsupported or invalid digest "sha1:\x1b[2J"`
		if f.String() != want {
			t.Errorf("got %s, want %s", f, want)
		}
		b, err := json.Marshal(f)
		if want := `"offset":0,"id":"urn:x:\u001b[2J","what":"bad-field","text":`; err != nil ||
			!strings.Contains(string(b), want) {
			t.Errorf("got %s, %v", b, err)
		}
	}
	if got := fmt.Sprint(Finding{File: "a", Note: true, Problem: Problem(200)}); !strings.HasPrefix(got, "a:0: note: ") {
		t.Errorf("got %s", got)
	}
}
