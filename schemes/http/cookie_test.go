package http_test

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
)

// TestCookies checks that cookies of a redirect and of a 401 response are sent
// with the next request to the same host, and not to other hosts.
func TestCookies(t *testing.T) {
	s := &script{replies: [][]string{
		{"HTTP/1.1 302 x\r\nSet-Cookie: a=1\r\nSet-Cookie: evil=1; Domain=other.com\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"},
		{
			strings.Replace(unauthorized(`Digest realm="r", nonce="n", qop=auth`), "\r\n\r\n", "\r\nSet-Cookie: b=2\r\n\r\n", 1),
			"HTTP/1.1 302 x\r\nLocation: http://other.com/\r\nContent-Length: 0\r\n\r\n",
		},
		{ok},
	}}
	req := newRequest("http://alice:s3cret@h.example.com/")
	req.Header = fetch.Header{{Name: "Cookie", Value: "own=0"}}
	if _, body, err := get(t, s.newClient(t, http.Options{Auth: http.Digest, Jar: http.NewJar()}), req); err != nil || body != "hello" {
		t.Fatalf("got %q, %v", body, err)
	}
	var got []string
	for _, head := range s.heads() {
		_, rest, _ := strings.Cut(head, "\r\nCookie: ")
		value, _, _ := strings.Cut(rest, "\r\n")
		got = append(got, value)
	}
	if got, want := strings.Join(got, " | "), "own=0 | a=1; own=0 | a=1; b=2; own=0 | "; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
}
