package warc

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// digestOf returns the SHA-1 digest of text in the form of a WARC field.
func digestOf(text string) string {
	d := newDigester(SHA1, Resource)
	d.Write([]byte(text))
	return d.Block()
}

// openBytes opens an archive that consists of one file with the given name.
func openBytes(t *testing.T, name string, content []byte) *Archive {
	t.Helper()
	dir := testFolder(t)
	if err := dir.WriteFile(name, content, 0o666); err != nil {
		t.Fatal(err)
	}
	a, err := Open(filepath.Join(dir.Name(), name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	a.Decode = true
	return a
}

// TestReplayDigests replays captures whose payload digest other programs
// computed.
func TestReplayDigests(t *testing.T) {
	const chunks = "5\r\nhello\r\n0\r\n\r\n"
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked"
	for _, tc := range []struct {
		name, digest, block string
		err                 error
	}{
		{"digest of the entity", digestOf("hello"), answer(head, chunks), nil},
		{"digest of the chunks", digestOf(chunks), answer(head, chunks), nil},
		{"digest of the chunks and of the bytes after them", digestOf(chunks + "x"), answer(head, chunks+"x"), nil},
		{"stored without chunks", digestOf("hello"), answer(head, "hello"), nil},
		{"wrong digest", digestOf("other"), answer(head, chunks), fetch.Mismatch},
		{"wrong digest without chunks", digestOf(chunks), answer(head, "hello"), fetch.Mismatch},
	} {
		text := web(1, "\nWARC-Payload-Digest: "+tc.digest, tc.block)
		body, err := replayText(t, openBytes(t, "a.warc", []byte(text)), "http://h.example/")
		if body != "hello" || !errors.Is(err, tc.err) {
			t.Errorf("%s: got %q, %v", tc.name, body, err)
		}
	}
}

// TestReplayMember replays and lists the records of a gzip member that contains
// several records of a URL.
func TestReplayMember(t *testing.T) {
	capture := func(id int, date, body string) string {
		text := web(id, "\nWARC-Payload-Digest: "+digestOf(body), answer("HTTP/1.1 200 OK\r\nContent-Type: text/plain", body))
		return strings.Replace(text, "2026-11-21T08:30:00Z", date, 1)
	}
	request := strings.Replace(web(9, "", "GET / HTTP/1.1\r\n\r\n"), "WARC-Type: response", "WARC-Type: request", 1)
	const first, second, third = "2019-01-01T00:00:00Z", "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"
	metadata := strings.Replace(rec(8, "WARC-Type: metadata\nWARC-Target-URI: http://h.example/\nContent-Type: text/x", "x"),
		"2026-11-21T08:30:00Z", second, 1)
	for _, tc := range []struct {
		name string
		file []byte
	}{
		{"one member", members(capture(1, first, "1") + capture(2, second, "2") + capture(3, third, "3"))},
		{"requests first", members(request + capture(1, first, "1") + request + capture(2, second, "2") + request + capture(3, third, "3"))},
		{"a metadata record of the same second", members(capture(1, first, "1")+metadata+capture(2, second, "2"), capture(3, third, "3"))},
		{"a member for each record", members(capture(1, first, "1"), capture(2, second, "2"), capture(3, third, "3"))},
	} {
		a := openBytes(t, "a.warc.gz", tc.file)
		var ids []string
		for e, err := range a.Captures(t.Context(), uri.MustParse("http://h.example/")) {
			if err != nil || slices.Contains(ids, e.Extra["id"]) {
				t.Errorf("%s: got capture %v twice, or %v", tc.name, e.Extra, err)
			}
			ids = append(ids, e.Extra["id"])
		}
		for want, date := range map[string]string{"1": first, "2": second, "3": third} {
			a.Time = parseDate(date)
			if body, err := replayText(t, a, "http://h.example/"); body != want || err != nil {
				t.Errorf("%s: got %q, %v for %s", tc.name, body, err, date)
			}
		}
	}
}

// TestReplayInexactLine replays a record whose index line has another date and
// digest than the record.
func TestReplayInexactLine(t *testing.T) {
	a := openBytes(t, "a.warc.gz", members(res(1, "\nWARC-Payload-Digest: "+helloSum)))
	line := Line{URL: "file:///1", Timestamp: "2001", Digest: strings.TrimPrefix(emptySum, "sha1:"), Offset: 0, File: "a.warc.gz"}
	resp, err := a.Replay(t.Context(), &fetch.Request{URL: uri.MustParse("file:///1")}, line)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

// TestReplayLiterals requests URLs that other programs stored with characters
// that a URI cannot contain.
func TestReplayLiterals(t *testing.T) {
	for _, tc := range []struct{ name, stored, url string }{
		{"brackets", "http://h.example/?a[]=1&b=%7B", "http://h.example/?a%5B%5D=1&b=%7B"},
		{"encoded brackets", "http://h.example/?a%5B%5D=1", "http://h.example/?a%5b%5d=1"},
		{"query of a browser", "http://h.example/%7B|?x={|}^`%22%C3%A9", "http://h.example/%7B%7C?x=%7B%7C%7D%5E%60%22%C3%A9"},
		{"backslash", "http://h.example/?a\\b", "http://h.example/?a%5Cb"},
		{"markup", "http://h.example/<a>?\"<b>\"", "http://h.example/%3Ca%3E?%22%3Cb%3E%22"},
		{"non-ASCII characters", "http://h.example/\xc3\x89?\xc3\xa9", "http://h.example/%C3%89?%c3%a9"},
		{"host with non-ASCII characters", "http://b\xc3\xbccher.example/", "http://xn--bcher-kva.example/"},
		{"percent signs", "http://h.example/?100%&x=%2&y=%2541", "http://h.example/?100%25&x=%252&y=%2541"},
		{"gopher", "gopher://h.example/7/s%09a|b", "gopher://h.example/7/s%09a%7Cb"},
		{"space", "http://h.example/a b", "http://h.example/a%20b"},
	} {
		text := strings.Replace(web(1, "", plainAnswer), "http://h.example/", tc.stored, 1)
		a := openBytes(t, "a.warc", []byte(text))
		if body, err := replayText(t, a, tc.url); body != "hello" || err != nil {
			t.Errorf("%s: got %q, %v", tc.name, body, err)
		}
		for e, err := range a.Captures(t.Context(), uri.MustParse(tc.url)) {
			if err != nil || e.Name != tc.stored || e.URL.Normalize(uri.ByScheme) != uri.MustParse(tc.url).Normalize(uri.ByScheme) {
				t.Errorf("%s: got capture %v, %v", tc.name, e, err)
			}
		}
	}
}

// TestReplayMethods replays responses to POST requests only if there is no
// response to a GET request.
func TestReplayMethods(t *testing.T) {
	record := func(id int, fields, block string) string {
		text := web(id, fields, block)
		if strings.Contains(fields, "request") {
			text = strings.Replace(text, "WARC-Type: response\r\n", "", 1)
		}
		return strings.Replace(text, "08:30:00", fmt.Sprintf("08:30:%02d", id/10), 1)
	}
	const request = "\nWARC-Type: request\nWARC-Concurrent-To: <urn:x:%d>"
	get := record(10, "", answer("HTTP/1.1 200 OK", "get")) + record(11, fmt.Sprintf(request, 10), "GET / HTTP/1.1\r\n\r\n")
	post := record(20, "", answer("HTTP/1.1 200 OK", "post"))
	postRequest := record(21, fmt.Sprintf(request, 20), "POST / HTTP/1.1\r\n\r\na=b")
	wgetPost := record(21, "\nWARC-Type: request", "POST / HTTP/1.1\r\n\r\n") +
		record(20, "\nWARC-Concurrent-To: <urn:x:21>", answer("HTTP/1.1 200 OK", "post"))
	other := record(31, fmt.Sprintf(request, 99), "POST / HTTP/1.1\r\n\r\n")
	again := record(40, "\nWARC-Type: revisit\nWARC-Refers-To-Date: 2026-11-21T08:30:02Z\nWARC-Profile: "+IdenticalPayload, answer("HTTP/1.1 200 OK", ""))
	again = strings.Replace(again, "WARC-Type: response\r\n", "", 1)
	for _, tc := range []struct{ name, file, want string }{
		{"revisit of a response to POST", post + postRequest + again, "post"},
		{"request after the response", get + post + postRequest, "get"},
		{"request before the response", get + postRequest + post, "get"},
		{"request without a reference", get + wgetPost, "get"},
		{"POST first", post + postRequest + get, "get"},
		{"POST only", post + postRequest, "post"},
		{"request of another response", get + post + other, "post"},
		{"short request", get + post + record(21, fmt.Sprintf(request, 20), "POST"), "post"},
	} {
		a := openBytes(t, "a.warc", []byte(tc.file))
		if body, err := replayText(t, a, "http://h.example/"); body != tc.want || err != nil {
			t.Errorf("%s: got %q, %v", tc.name, body, err)
		}
	}
}

// TestReplayOtherScheme replays captures of an http URL and of the https URL.
func TestReplayOtherScheme(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
	redirect := func(to string) string { return "HTTP/1.1 301 Moved\r\nLocation: " + to + "\r\n\r\n" }
	https := func(second int, block string) string {
		return strings.Replace(web(second, "", block), "http://h.example/", "https://h.example/", 1)
	}
	const plain, secure = "http://h.example/", "https://h.example/"
	for name, tc := range map[string]struct {
		url     string
		records []string
		want    string
		err     error
	}{
		"both schemes":                  {plain, []string{web(1, "", ok+"old"), https(2, ok+"new")}, "old", nil},
		"other scheme":                  {plain, []string{https(1, ok+"x")}, "x", nil},
		"redirect to the requested URL": {plain, []string{https(1, redirect(plain))}, "", fetch.NotFound},
		"redirect to its fragment":      {secure, []string{web(1, "", redirect("HTTPS://H.example:443/#a"))}, "", fetch.NotFound},
		"earlier capture":               {plain, []string{https(1, ok+"x"), https(2, redirect(plain))}, "x", nil},
		"redirect to a capture":         {plain, []string{web(1, "", redirect(secure)), https(2, ok+"x")}, "x", nil},
		"redirect between the schemes":  {plain, []string{web(1, "", redirect(secure)), https(2, redirect(plain))}, "", fetch.Loop},
	} {
		a := openBytes(t, "a.warc", []byte(strings.Join(tc.records, "")))
		resp, err := replayClient(t, a).Get(t.Context(), tc.url)
		var body []byte
		if err == nil {
			body, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if string(body) != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("%s: got %q, %v", name, body, err)
		}
	}
}
