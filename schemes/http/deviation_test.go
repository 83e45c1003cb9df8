package http_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
)

const chunks = "5\r\nhello\r\n0\r\nA: b\r\n\r\n"

// deviantReplies are responses with framings that violate RFC 9112 but have a
// single interpretation.
var deviantReplies = []struct{ name, fields, body, want, trailer string }{
	{"chunked, chunked", "Transfer-Encoding: chunked, chunked\r\n", chunks, "hello", "A: b"},
	{"chunked in two fields", "Transfer-Encoding: chunked\r\ntransfer-encoding: Chunked\r\nX: y\r\n", chunks, "hello", "A: b"},
	{"identity, chunked", "Transfer-Encoding: identity, chunked\r\n", chunks, "hello", "A: b"},
	{"identity", "Transfer-Encoding: identity, identity\r\nContent-Length: 5\r\n", "hello", "hello", ""},
	{"bare LF", "Transfer-Encoding: chunked\r\n", strings.ReplaceAll(chunks, "\r\n", "\n"), "hello", "A: b"},
	{"bare LF, many chunks", "Transfer-Encoding: chunked\r\n", strings.Repeat("1\nx\n", 5000) + "0\n\n", strings.Repeat("x", 5000), ""},
	{"bare LF after a chunk", "Transfer-Encoding: chunked\r\n", "5\r\nhello\n0\r\n\r\n", "hello", ""},
	{"bare LF after an extension", "Transfer-Encoding: chunked\r\n", "5;x=y\nhello\r\n0\r\n\r\n", "hello", ""},
	{"length of 2^64-1", "Content-Length: 18446744073709551615\r\n", "hello", "hello", ""},
}

func TestFramingDeviations(t *testing.T) {
	for _, test := range deviantReplies {
		for _, old := range []http.Legacy{{}, {HTTP10: true}} {
			for piece, forged := range map[int]string{1: "", 7: "", 1 << 20: "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"} {
				if strings.Contains(test.name, "length of") {
					forged = ""
				}
				head := "HTTP/1.1 200 OK\r\n" + test.fields + "\r\n"
				s := &script{replies: [][]string{{head + test.body + forged, ok}, {ok}}, pieceSize: piece}
				if strings.Contains(test.name, "length of") {
					s.replies[0] = s.replies[0][:1]
				}
				client := s.newClient(t, http.Options{Legacy: old})
				var n notes
				req := newRequest("http://h/")
				req.Trace = n.trace()
				resp, body, err := get(t, client, req)
				if err != nil || body != test.want || string(resp.Head) != head {
					t.Fatalf("%s, %+v: got %q, %v", test.name, old, body, err)
				}
				if a := resp.Trailer(); (test.trailer == "") != (len(a) == 0) || len(a) > 0 && a[0].Name+": "+a[0].Value != test.trailer {
					t.Errorf("%s, %+v: trailer %q", test.name, old, a)
				}
				if !n.hasNote("deviation") || old == (http.Legacy{}) && n.got.String() != head+test.body {
					t.Errorf("%s, %+v: notes %q, trace %q", test.name, old, n.text, n.got.String())
				}
				// Hidden bytes must not be read as the next response.
				if _, body, err := get(t, client, newRequest("http://h/")); body != "hello" || err != nil || s.conns != 2 {
					t.Errorf("%s, %+v: next response %q, %v, %d connections", test.name, old, body, err, s.conns)
				}
			}
		}
	}
}

// TestAmbiguousFraming checks that framings with several interpretations are
// rejected.
func TestAmbiguousFraming(t *testing.T) {
	for name, fields := range map[string]string{
		"gzip, chunked":                  "Transfer-Encoding: gzip, chunked\r\n",
		"chunked, gzip":                  "Transfer-Encoding: chunked, gzip\r\n",
		"chunked, identity, x":           "Transfer-Encoding: chunked, identity\r\nTransfer-Encoding: x\r\n",
		"chunked twice and a length":     "Transfer-Encoding: chunked, chunked\r\nContent-Length: 5\r\n",
		"chunked, with a control":        "Transfer-Encoding: \vchunked\r\n",
		"two lengths, one above 62 bits": "Content-Length: 18446744073709551615\r\nContent-Length: 5\r\n",
		"negative length":                "Content-Length: -18446744073709551615\r\n",
	} {
		s := &script{replies: [][]string{{"HTTP/1.1 200 OK\r\n" + fields + "\r\n" + chunks}}}
		if _, body, err := get(t, s.newClient(t, http.Options{}), newRequest("http://h/")); !errors.Is(err, fetch.Protocol) {
			t.Errorf("%s: got %q, %v", name, body, err)
		}
	}
}

func TestTrailer(t *testing.T) {
	s := &script{replies: [][]string{{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks, ok}}}
	client := s.newClient(t, http.Options{})
	resp, _, err := get(t, client, newRequest("http://h/"))
	if err != nil || resp.Trailer().Get("a") != "b" {
		t.Fatalf("got %+v, %v", resp, err)
	}
	if _, _, err := get(t, client, newRequest("http://h/")); err != nil || s.conns != 1 || resp.Trailer().Get("a") != "b" {
		t.Errorf("%d connections, want 1; %v; trailer %q", s.conns, err, resp.Trailer())
	}
}
