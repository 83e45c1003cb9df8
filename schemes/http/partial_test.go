package http_test

import (
	"errors"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
)

func TestRanges(t *testing.T) {
	part := func(contentRange, more, body string) string {
		return "HTTP/1.1 206 x\r\nContent-Range: " + contentRange + "\r\n" + more + "\r\n" + body
	}
	const five, tag = "Content-Length: 5\r\n", "ETag: \"v1\"\r\n"
	past := "HTTP/1.1 416 x\r\nContent-Range: bytes */%d\r\n"
	fullResponse := "HTTP/1.1 200 OK\r\nETag: \"v2\"\r\nContent-Length: 10\r\n\r\n0123456789"
	for _, test := range []struct {
		name         string
		want         fetch.Range
		same         string
		replies      []string
		body         string
		offset, size int64
		fault        fetch.Fault
	}{
		{"middle", fetch.Range{First: 2, End: 7}, "", []string{part("bytes 2-6/10", five+tag, "23456")}, "23456", 2, 10, 0},
		{"to the end", fetch.Range{First: 5}, "", []string{part("bytes 5-9/10", five, "56789")}, "56789", 5, 10, 0},
		{"from the end", fetch.Range{First: -5}, "", []string{part("bytes 5-9/10", five, "56789")}, "56789", 5, 10, 0},
		{"from the end of a smaller object", fetch.Range{First: -20}, "", []string{part("bytes 0-4/5", five, "01234")}, "01234", 0, 5, 0},
		{"unknown total", fetch.Range{First: 5}, "", []string{part("bytes 5-9/*", five, "56789")}, "56789", 5, -1, 0},
		{"shorter part", fetch.Range{First: 5}, "", []string{part("bytes 5-6/10", "Content-Length: 2\r\n", "56")}, "56", 5, 10, fetch.Truncated},
		{"other offset", fetch.Range{First: 5}, "", []string{part("bytes 4-9/10", "Content-Length: 6\r\n", "456789")}, "", 0, 0, fetch.Protocol},
		{"part before the end", fetch.Range{First: -5}, "", []string{part("bytes 0-4/10", five, "01234")}, "", 0, 0, fetch.Protocol},
		{"longer part", fetch.Range{First: 2, End: 5}, "", []string{part("bytes 2-6/10", five, "23456")}, "", 0, 0, fetch.Protocol},
		{"different Content-Length", fetch.Range{First: 5}, "", []string{part("bytes 5-9/10", "Content-Length: 4\r\n", "5678")}, "", 0, 0, fetch.Protocol},
		{"end before start", fetch.Range{First: 5}, "", []string{part("bytes 9-5/10", five, "56789")}, "", 0, 0, fetch.Protocol},
		{"end after the total", fetch.Range{First: 5}, "", []string{part("bytes 5-9/9", five, "56789")}, "", 0, 0, fetch.Protocol},
		{"overflow", fetch.Range{First: 5}, "", []string{part("bytes 5-18446744073709551616/*", five, "56789")}, "", 0, 0, fetch.Protocol},
		{"other unit", fetch.Range{First: 5}, "", []string{part("lines 5-9/10", five, "56789")}, "", 0, 0, fetch.Protocol},
		{"several parts", fetch.Range{First: 5}, "", []string{"HTTP/1.1 206 x\r\nContent-Type: multipart/byteranges; boundary=x\r\n" + five + "\r\n--x--"}, "", 0, 0, fetch.Protocol},
		{"server without ranges", fetch.Range{First: 5}, "", []string{fullResponse}, "0123456789", 0, 10, 0},
		{"server without ranges, suffix requested", fetch.Range{First: 5, End: 7}, "", []string{fullResponse}, "0123456789", 0, -1, 0},
		{"server without ranges, object at its end", fetch.Range{First: 10}, "", []string{fullResponse}, "", 10, 10, 0},
		{"range after the object", fetch.Range{First: 50}, "", []string{sprintf(past, 10) + five + "\r\nhello"}, "", 0, 0, fetch.Denied},
		{"range at the end", fetch.Range{First: 10}, "", []string{sprintf(past, 10) + five + "\r\nhello"}, "", 10, 10, 0},
		{"empty object", fetch.Range{First: -5}, "", []string{sprintf(past, 0) + five + "\r\nhello"}, "", 0, 0, 0},

		{"range at the end, no unit", fetch.Range{First: 10}, "", []string{"HTTP/1.1 416 x\r\nContent-Range: */10\r\n" + five + "\r\nhello"}, "", 10, 10, 0},
		{"range at the end, unit with an equals sign", fetch.Range{First: 10}, "", []string{"HTTP/1.1 416 x\r\nContent-Range: Bytes=*/10\r\n" + five + "\r\nhello"}, "", 10, 10, 0},
		{"range at the end, complete object", fetch.Range{First: 10}, "", []string{"HTTP/1.1 416 x\r\nContent-Range: bytes 0-9/10\r\n" + five + "\r\nhello"}, "", 10, 10, 0},
		{"range at the end, other unit", fetch.Range{First: 10}, "", []string{"HTTP/1.1 416 x\r\nContent-Range: lines */10\r\n" + five + "\r\nhello"}, "", 0, 0, fetch.Denied},
		{"empty part at the end", fetch.Range{First: 10}, "", []string{part("bytes 10-9/10", "Content-Length: 0\r\n", "")}, "", 10, 10, 0},
		{"empty part at the end, no length", fetch.Range{First: 10}, "", []string{part("bytes 10-9/10", "", "")}, "", 10, 10, 0},
		{"empty part at the end, with bytes", fetch.Range{First: 10}, "", []string{part("bytes 10-9/10", five, "hello")}, "", 0, 0, fetch.Protocol},
		{"empty part within the object", fetch.Range{First: 5}, "", []string{part("bytes 5-4/10", "Content-Length: 0\r\n", "")}, "", 0, 0, fetch.Protocol},
		{"part without a unit", fetch.Range{First: 5}, "", []string{part("5-9/10", five, "56789")}, "", 0, 0, fetch.Protocol},

		{"resume", fetch.Range{First: 5}, `"v1"`, []string{part("bytes 5-9/10", five+tag, "56789")}, "56789", 5, 10, 0},
		{"resume, no tag sent", fetch.Range{First: 5}, `"v1"`, []string{part("bytes 5-9/10", five, "56789")}, "56789", 5, 10, 0},
		{"resume of a changed object", fetch.Range{First: 5}, `"v1"`, []string{fullResponse}, "0123456789", 0, 10, 0},
		{"resume, If-Range ignored", fetch.Range{First: 5}, `"v0"`, []string{part("bytes 5-9/10", five+tag, "56789"), fullResponse}, "0123456789", 0, 10, 0},
		{"resume by date, If-Range ignored", fetch.Range{First: 5}, "Sun, 06 Nov 1994 08:49:37 GMT", []string{part("bytes 5-9/10", five+"Last-Modified: Mon, 07 Nov 1994 08:49:37 GMT\r\n", "56789"), fullResponse}, "0123456789", 0, 10, 0},
		{"resume of a complete object", fetch.Range{First: 10}, `"v1"`, []string{sprintf(past, 10) + tag + five + "\r\nhello"}, "", 10, 10, 0},
		{"complete, but changed object", fetch.Range{First: 10}, `"v0"`, []string{sprintf(past, 10) + tag + five + "\r\nhello", fullResponse}, "0123456789", 0, 10, 0},
		{"object has shrunk", fetch.Range{First: 20}, `"v1"`, []string{sprintf(past, 10) + five + "\r\nhello", fullResponse}, "0123456789", 0, 10, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			conns := make([][]string, len(test.replies))
			for i, reply := range test.replies {
				conns[i] = []string{reply}
			}
			s := &script{replies: conns}
			req := newRequest("http://h/")
			req.Range, req.IfSame = test.want, test.same
			resp, body, err := get(t, s.newClient(t, http.Options{}), req)
			if test.fault != 0 {
				if !errors.Is(err, test.fault) || body != test.body {
					t.Errorf("got %q, %v, want %v", body, err, test.fault)
				}
				return
			}
			if err != nil || body != test.body || resp.Offset != test.offset || resp.Size != test.size {
				t.Errorf("got %q, %+v, %v, want %q at %d of %d", body, resp, err, test.body, test.offset, test.size)
			}
			if heads := s.heads(); len(heads) != len(test.replies) {
				t.Errorf("%d requests, want %d", len(heads), len(test.replies))
			}
		})
	}
}

func TestConditions(t *testing.T) {
	changed := time.Date(1994, 11, 6, 8, 49, 37, 0, time.UTC)
	const dated = "HTTP/1.1 200 OK\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 5\r\n\r\nhello"
	for _, test := range []struct {
		name      string
		req       fetch.Request
		reply     string
		unchanged bool
	}{
		{"tag", fetch.Request{IfNot: `"v1"`}, "HTTP/1.1 304 x\r\nETag: \"v1\"\r\nContent-Length: 5\r\n\r\n", true},
		{"date", fetch.Request{Since: changed}, "HTTP/1.1 304 x\r\n\r\n", true},
		{"different tag", fetch.Request{IfNot: `"v1"`}, ok, false},
		{"newer date", fetch.Request{Before: changed}, "HTTP/1.1 412 x\r\nContent-Length: 5\r\n\r\nhello", true},
		{"server that ignores since", fetch.Request{Since: changed}, dated, true},
		{"changed a second later", fetch.Request{Since: changed.Add(-time.Second)}, dated, false},
		{"server that ignores before", fetch.Request{Before: changed.Add(-time.Second)}, dated, true},
		{"unchanged since", fetch.Request{Before: changed}, dated, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &script{replies: [][]string{{test.reply}}}
			test.req.URL = newRequest("http://h/").URL
			resp, body, err := get(t, s.newClient(t, http.Options{}), &test.req)
			want := "hello"
			if test.unchanged {
				want = ""
			}
			if err != nil || resp.Unchanged != test.unchanged || body != want {
				t.Errorf("got %q, unchanged %t, %v", body, resp.Unchanged, err)
			}
		})
	}
}

func TestValidator(t *testing.T) {
	const date, later, soon = "Last-Modified: Fri, 02 Jan 2026 03:00:00 GMT\r\n", "Date: Fri, 02 Jan 2026 03:01:00 GMT\r\n", "Date: Fri, 02 Jan 2026 03:00:59 GMT\r\n"
	for _, test := range []struct{ fields, want string }{
		{"ETag: \"v1\"\r\n" + date + later, `"v1"`},
		{"ETag: W/\"v1\"\r\n" + date + later, "Fri, 02 Jan 2026 03:00:00 GMT"},
		{"ETag: W/\"v1\"\r\n" + date + soon, ""},
		{date, ""},
		{"ETag: v1\r\n", ""},
		{"ETag: \"v 1\"\r\n", ""},
		{"", ""},
	} {
		s := &script{replies: [][]string{{"HTTP/1.1 200 OK\r\n" + test.fields + "Content-Length: 0\r\n\r\n"}}}
		resp, _, err := get(t, s.newClient(t, http.Options{}), newRequest("http://h/"))
		if err != nil || resp.Validator != test.want {
			t.Errorf("%q: validator %q, %v, want %q", test.fields, resp.Validator, err, test.want)
		}
	}
}
