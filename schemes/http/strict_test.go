package http_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
)

// TestStrict checks that a body without a marked end is an error with Strict,
// and is complete without Strict.
func TestStrict(t *testing.T) {
	for _, test := range []struct {
		name, url, reply string
		old              http.Legacy
		marked           bool // the end of the body is marked
	}{
		{name: "HTTP/1.0", url: "http://h/", reply: "HTTP/1.0 200 OK\r\n\r\nhello"},
		{name: "HTTP/1.1", url: "http://h/", reply: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello"},
		{name: "HTTP/0.9", url: "http://h/", reply: "hello", old: http.Legacy{HTTP09: true}},
		{name: "length ignored", url: "http://h/", reply: ok, old: http.Legacy{IgnoreLength: true}},
		{name: "length", url: "http://h/", reply: "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", marked: true},
		{name: "chunks", url: "http://h/", reply: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", marked: true},
		{name: "TLS", url: "https://h/", reply: "HTTP/1.0 200 OK\r\n\r\nhello", marked: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, strict := range []bool{false, true} {
				s := &script{replies: [][]string{{test.reply}}}
				c := s.newClient(t, http.Options{Legacy: test.old, Strict: strict})
				if strings.HasPrefix(test.url, "https:") {
					c = s.newClient(t, http.Options{Strict: strict}, s.withTLS(t))
				}
				_, body, err := get(t, c, newRequest(test.url))
				if body != "hello" || errors.Is(err, fetch.Truncated) != (strict && !test.marked) || (err == nil) == (strict && !test.marked) {
					t.Errorf("strict %v: got %q, %v", strict, body, err)
				}
			}
		})
	}
}
