package warc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/gopher"
	webscheme "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// replayClient returns a client for the archive that fails the test if it opens
// a connection.
func replayClient(t *testing.T, a *Archive) *fetch.Client {
	t.Helper()
	schemes := append(webscheme.Schemes(webscheme.Options{}), gopher.Schemes(gopher.Options{})...)
	for _, name := range []string{"ftp", "news", "wais", "imap"} {
		schemes = append(schemes, fetch.Scheme{Name: name})
	}
	c := fetch.New(fetch.Options{Policy: fetch.Typed()}, a.Schemes(schemes...)...)
	t.Cleanup(func() { c.Close() })
	return c
}

func openSample(t *testing.T) *Archive {
	t.Helper()
	a, err := Open(sample(t, testOptions()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	a.Decode = true
	return a
}

func TestReplay(t *testing.T) {
	c := replayClient(t, openSample(t))
	for _, tc := range []struct {
		name, url         string
		kind              fetch.Kind
		media, body, from string // from is the URL after redirects, or ""
		code              int
		fault             error
	}{
		{"http", "http://www.h.example/a?y=2&x=1", fetch.Document, "text/html; charset=utf-8", "hello", "", 200, nil},
		{"different spelling of the URL", "HTTP://WWW.h.example:80/a?y=2&x=1#top", fetch.Document,
			"text/html; charset=utf-8", "hello", "", 200, nil},
		{"chunked https response", "https://h.example/chunked", fetch.Document, "text/plain", "hello world", "", 200, nil},
		{"http URL with an https capture", "http://h.example/chunked", fetch.Document, "text/plain", "hello world", "", 200, nil},
		{"https URL with an http capture", "https://h.example/gzip", fetch.Document, "text/plain", "packed text", "", 200, nil},
		{"scheme without a capture", "ftp://h.example/gzip", 0, "", "", "", 0, fetch.NotFound},
		{"path with different letter case", "http://h.example/Gzip", 0, "", "", "", 0, fetch.NotFound},
		{"content coding", "http://h.example/gzip", fetch.Document, "text/plain", "packed text", "", 200, nil},
		{"redirect without a capture of the target", "http://h.example/moved", 0, "", "", "", 0, fetch.NotFound},
		{"captured status 404", "http://h.example/gone", 0, "", "", "", 404, fetch.NotFound},
		{"index of a directory", "http://h.example/pub/", fetch.Menu, "text/html", index, "", 200, nil},
		{"revisit under another URL", "http://h.example/copy", fetch.Document, "text/css", "hello", "", 200, nil},
		{"gopher menu, revisited", "gopher://h.example/1/", fetch.Menu, "application/gopher-menu", menuText, "", 0, nil},
		{"ftp listing with a different password", "ftp://me:other@h.example/pub/;type=d", fetch.Menu,
			"text/x-ftp-list; dialect=unix", "-rw-r--r-- 1 a b 5 Nov 21 08:30 a.txt\r\n", "", 0, nil},
		{"file with a login", "ftp://me:other@h.example/pub/a.txt", fetch.Document, "", "hello", "", 0, nil},
		{"news", "news:1@h.example", fetch.Document, "message/rfc822", article, "", 0, nil},
		{"empty list", "wais://h.example/db?one%20two", fetch.Menu, "application/x-ndjson; profile=fetch-entries", "", "",
			0, nil},
		{"imap", "imap://me@h.example/INBOX;UIDVALIDITY=1/;UID=2", fetch.Document, "message/rfc822", article, "", 0, nil},
		{"truncated capture", "gopher://h.example/9/cut", fetch.Document, "application/octet-stream", "half", "", 0,
			fetch.Truncated},
		{"captured failure", "gopher://nowhere.example/", 0, "", "", "", 0, fetch.NotFound},
		{"host without captures", "http://other.example/", 0, "", "", "", 0, fetch.NotFound},
	} {
		t.Run(tc.name, func(t *testing.T) {
			resp, err := c.Get(t.Context(), tc.url)
			var body []byte
			if err == nil {
				body, err = io.ReadAll(resp.Body)
				resp.Body.Close()
				if string(body) != tc.body || resp.Kind != tc.kind || resp.Media != tc.media || resp.Code != tc.code {
					t.Errorf("got status %d, kind %s, media type %q, body %q", resp.Code, resp.Kind, resp.Media, body)
				}
				if resp.Peer.IsValid() { // 192.0.2.7 is not a public address
					t.Errorf("got peer %v", resp.Peer)
				}
			}
			if !errors.Is(err, tc.fault) {
				t.Errorf("got error %v, want %v", err, tc.fault)
			}
		})
	}
}

// TestReplayEntries verifies that the schemes parse replayed listings.
func TestReplayEntries(t *testing.T) {
	c := replayClient(t, openSample(t))
	for url, want := range map[string]string{
		"gopher://h.example/1/": "About gopher://h.example/0/about, More gopher://h.example/1/more",
		"http://h.example/pub/": "a.txt http://h.example/pub/a.txt",
	} {
		resp, err := c.Get(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for e, err := range resp.Entries() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e.Name+" "+e.URL.String())
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: got entries %q", url, got)
		}
	}
}

// TestReplayTime verifies the selection by Archive.Time and Archive.Until.
func TestReplayTime(t *testing.T) {
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	var positions []Position
	for _, s := range []int{20, 10, 30} {
		positions = append(positions, mustWrite(t, w,
			at("gopher://h.example/0/a", s).Resource("text/plain", text(time.Duration(s*1e9).String())))...)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	second := func(n int) time.Time { return day.Add(time.Duration(n) * time.Second) }
	for _, tc := range []struct {
		at, until time.Time
		want      string
	}{
		{time.Time{}, time.Time{}, "30s"},
		{day.Add(time.Hour), time.Time{}, "30s"},
		{second(29), time.Time{}, "30s"},
		{second(24), time.Time{}, "20s"},
		{second(25), time.Time{}, "30s"}, // the later one of two with the same distance
		{second(20), time.Time{}, "20s"},
		{second(14), time.Time{}, "10s"},
		{day, time.Time{}, "10s"},
		{day, second(22), "20s"},
		{second(12), second(14), "10s"},
		{second(40), second(50), "30s"},
		{second(20), second(10), "20s"}, // Until is ignored
	} {
		a, err := Open(dir.Name() + "/" + positions[0].File)
		if err != nil {
			t.Fatal(err)
		}
		a.Time, a.Until = tc.at, tc.until
		resp, err := driver{a}.Do(t.Context(), &fetch.Request{URL: uri.MustParse("gopher://h.example/0/a")})
		if err != nil {
			t.Fatal(err)
		}
		if body, _ := io.ReadAll(resp.Body); string(body) != tc.want {
			t.Errorf("from %v to %v: got %s, want %s", tc.at, tc.until, body, tc.want)
		}
		resp.Body.Close()
		a.Close()
	}
}

// TestSameSecond checks that captures of the same second are listed in the order
// of their records, and that replay chooses the last one.
func TestSameSecond(t *testing.T) {
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	var positions []Position
	want := ""
	for n := range 12 {
		c := at("gopher://h.example/0/a", 10)
		c.Date = c.Date.Add(time.Duration(n) * time.Millisecond)
		positions = append(positions, mustWrite(t, w, c.Resource("text/plain", text(strings.Repeat("x", n+1))))...)
		want += fmt.Sprint(n+1, " ")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := Open(dir.Name() + "/" + positions[0].File)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	u, got := uri.MustParse("gopher://h.example/0/a"), ""
	for e, err := range a.Captures(t.Context(), u) {
		if err != nil {
			t.Fatal(err)
		}
		got += fmt.Sprint(e.Size, " ")
	}
	if got != want {
		t.Errorf("sizes of the captures: %s, want %s", got, want)
	}
	for _, a.Time = range []time.Time{{}, day} {
		resp, err := driver{a}.Do(t.Context(), &fetch.Request{URL: u})
		if err != nil {
			t.Fatal(err)
		}
		if body, _ := io.ReadAll(resp.Body); len(body) != 12 {
			t.Errorf("replay at %v: %q", a.Time, body)
		}
		resp.Body.Close()
	}
}

func TestReplayParts(t *testing.T) {
	a := openSample(t)
	u := uri.MustParse("http://www.h.example/a?y=2&x=1")
	sum := helloSum
	for _, tc := range []struct {
		name   string
		req    fetch.Request
		body   string
		offset int64
	}{
		{"range", fetch.Request{Range: fetch.Range{First: 1, End: 3}}, "el", 1},
		{"last bytes", fetch.Request{Range: fetch.Range{First: -2}}, "lo", 3},
		{"range to the end", fetch.Request{Range: fetch.Range{First: 2}}, "llo", 2},
		{"range after the end", fetch.Request{Range: fetch.Range{First: 9}}, "hello", 0},
		{"IfSame matches", fetch.Request{Range: fetch.Range{First: 1}, IfSame: sum}, "ello", 1},
		{"IfSame does not match", fetch.Request{Range: fetch.Range{First: 1}, IfSame: "x"}, "hello", 0},
		{"IfNot matches", fetch.Request{IfNot: sum}, "", 0},
		{"Stat", fetch.Request{Op: fetch.Stat}, "", 0},
	} {
		tc.req.URL = u
		resp, err := driver{a}.Do(t.Context(), &tc.req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if string(body) != tc.body || resp.Offset != tc.offset || err != nil || resp.Size != 5 ||
			resp.Unchanged != (tc.req.IfNot != "") {
			t.Errorf("%s: got %q at offset %d of %d, %v", tc.name, body, resp.Offset, resp.Size, err)
		}
		resp.Body.Close()
	}
}

// TestReplayReference checks which record of a second is the original of a revisit
// record that refers to a date in whole seconds.
func TestReplayReference(t *testing.T) {
	at := func(date, text string) string {
		return strings.Replace(text, "2026-11-21T08:30:00Z", "2026-11-21T08:"+date+"Z", 1)
	}
	revisit := func(id int, of, refersTo, date string) string {
		return rec(id, "WARC-Type: revisit\nWARC-Target-URI: gopher://h.example/0/"+of+"\nWARC-Profile: "+IdenticalPayload+
			"\nWARC-Payload-Digest: "+helloSum+"\nWARC-Refers-To-Target-URI: gopher://h.example/0/"+refersTo+
			"\nWARC-Refers-To-Date: 2026-11-21T08:"+date+"Z", "")
	}
	hello := func(id int, url string) string {
		return rec(id, "WARC-Type: resource\nWARC-Target-URI: gopher://h.example/0/"+url+"\nWARC-Payload-Digest: "+helloSum, "hello")
	}
	dir := testFolder(t)
	file := members(
		hello(1, "a"),
		at("31:00.25", revisit(2, "a", "a", "30:00")),
		at("31:00.75", revisit(3, "revisit", "a", "31:00")),
		at("31:00.10", revisit(4, "later", "a", "31:00")),
		at("33:00.10", revisit(5, "b", "missing", "30:00")),
		at("33:00.90", hello(6, "b")),
		at("34:00", revisit(7, "content", "b", "33:00")),
	)
	if err := dir.WriteFile("a.warc.gz", file, 0o666); err != nil {
		t.Fatal(err)
	}
	a, err := Open(dir.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for name, want := range map[string]error{
		"revisit": nil,            // refers to an earlier revisit record
		"content": nil,            // refers to a revisit record and a record with content
		"later":   fetch.NotFound, // refers to a later revisit record only
	} {
		resp, err := driver{a}.Do(t.Context(), &fetch.Request{URL: uri.MustParse("gopher://h.example/0/" + name)})
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: got error %v, want %v", name, err, want)
		}
	}
}

// TestReplayDamage verifies the errors for a wrong payload digest, a missing
// original record and a loop of revisits.
func TestReplayDamage(t *testing.T) {
	dir := testFolder(t)
	file := members(
		rec(1, "WARC-Type: resource\nWARC-Target-URI: gopher://h.example/0/a\nWARC-Payload-Digest: "+emptySum, "hello"),
		rec(2, "WARC-Type: revisit\nWARC-Target-URI: gopher://h.example/0/b\nWARC-Profile: "+IdenticalPayload+"\nWARC-Payload-Digest: "+helloSum+"\nWARC-Refers-To-Target-URI: gopher://h.example/0/c\nWARC-Refers-To-Date: 2026-11-21T08:30:00Z", ""),
		rec(3, "WARC-Type: revisit\nWARC-Target-URI: gopher://h.example/0/d\nWARC-Profile: "+IdenticalPayload+"\nWARC-Payload-Digest: "+helloSum+"\nWARC-Refers-To-Target-URI: gopher://h.example/0/e\nWARC-Refers-To-Date: 2026-11-21T08:30:00Z", ""),
		rec(4, "WARC-Type: revisit\nWARC-Target-URI: gopher://h.example/0/e\nWARC-Profile: "+IdenticalPayload+"\nWARC-Payload-Digest: "+helloSum+"\nWARC-Refers-To-Target-URI: gopher://h.example/0/d\nWARC-Refers-To-Date: 2026-11-21T08:30:00Z", ""),
		web(5, "", "no answer"),
	)
	if err := dir.WriteFile("a.warc.gz", append(file, "torn"...), 0o666); err != nil {
		t.Fatal(err)
	}
	a, err := Open(dir.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if len(a.Damaged) != 1 || !a.Damaged[0].Truncated || a.Damaged[0].Offset != int64(len(file)) {
		t.Errorf("got damage %v", a.Damaged)
	}
	for url, want := range map[string]error{
		"gopher://h.example/0/a": fetch.Mismatch,
		"gopher://h.example/0/b": fetch.NotFound,
		"gopher://h.example/0/d": fetch.Loop,
		"http://h.example/":      fetch.Protocol,
	} {
		resp, err := driver{a}.Do(context.Background(), &fetch.Request{URL: uri.MustParse(url)})
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: got error %v, want %v", url, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = driver{a}.Do(ctx, &fetch.Request{URL: uri.MustParse("gopher://h.example/0/a")})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("canceled request: got error %v", err)
	}
}

// TestReplayPeer verifies that a response has no private peer address.
func TestReplayPeer(t *testing.T) {
	for ip, want := range map[string]string{
		"8.8.4.4": "8.8.4.4", "2001:4860:4860::8844": "2001:4860:4860::8844",
		"127.0.0.1": "", "::1": "", "10.0.0.1": "", "169.254.1.1": "", "fe80::1": "", "192.0.2.1": "", "100.64.0.1": "", "::ffff:10.0.0.1": "", "no address": "", "": "",
	} {
		text := "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n" +
			"WARC-Target-URI: gopher://h.example/0/a\r\nWARC-IP-Address: " + ip +
			"\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi\r\n\r\n"
		name := filepath.Join(t.TempDir(), "a.warc")
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		a, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := replayClient(t, a).Get(t.Context(), "gopher://h.example/0/a")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := resp.Peer; got.IsValid() != (want != "") || got.IsValid() && got.String() != want {
			t.Errorf("%s: got peer %v, want %q", ip, got, want)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}
