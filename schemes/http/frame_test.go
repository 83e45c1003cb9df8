package http_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
)

// TestFraming checks framings with a single interpretation, and whether the
// connection is reused.
func TestFraming(t *testing.T) {
	const alive = "Connection: keep-alive\r\n"
	for _, test := range []struct {
		name, reply string
		body        string
		conns       int // connections for two requests
		fault       fetch.Fault
	}{
		{"length as a list", "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello", "hello", 1, 0},
		{"length as a list of three, repeated", "HTTP/1.1 200 OK\r\nContent-Length: 5,5 ,\t5\r\nContent-Length: 5\r\n\r\nhello", "hello", 1, 0},
		{"two lengths in a list", "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello", "", 1, fetch.Protocol},
		{"list with an empty length", "HTTP/1.1 200 OK\r\nContent-Length: 5,\r\n\r\nhello", "", 1, fetch.Protocol},
		{"list and another length", "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\nContent-Length: 6\r\n\r\nhello", "", 1, fetch.Protocol},
		{"folded length", "HTTP/1.1 200 OK\r\nContent-Length:\r\n 5\r\n\r\nhello", "hello", 1, 0},
		{"length folded into two", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n 0\r\n\r\nhello", "", 1, fetch.Protocol},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\n" + alive + "Content-Length: 5\r\n\r\nhello", "hello", 1, 0},
		{"HTTP/1.0 with a transfer coding", "HTTP/1.0 200 OK\r\n" + alive + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello", "hello", 2, 0},
		{"HTTP/1.0 with identity", "HTTP/1.0 200 OK\r\n" + alive + "Transfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello", "hello", 2, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &script{replies: [][]string{{test.reply, test.reply}, {test.reply}}}
			client := s.newClient(t, http.Options{})
			for range 2 {
				_, body, err := get(t, client, newRequest("http://h/"))
				if test.fault != 0 {
					if !errors.Is(err, test.fault) {
						t.Errorf("got %q, %v", body, err)
					}
					return
				}
				if body != test.body || err != nil {
					t.Errorf("got %q, %v", body, err)
				}
			}
			if n := s.connCount(); n != test.conns {
				t.Errorf("%d connections, want %d", n, test.conns)
			}
		})
	}
}

// TestFolded checks that a folded field becomes a single line in Response.Head,
// in the header fields, in cookies and in the trailer.
func TestFolded(t *testing.T) {
	const reply = "HTTP/1.1 103 x\r\nLink: </a>;\r\n rel=x\r\n\r\nHTTP/1.1 200 OK\r\nX-A: a \r\n\t b\r\n  c\r\nX-B:\r\n value\r\nX-C: c\r\n \t\r\n" +
		"Set-Cookie: n=v;\n path=/p\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-T: t\r\n u\r\n\r\n"
	const want = "HTTP/1.1 103 x\r\nLink: </a>; rel=x\r\n\r\nHTTP/1.1 200 OK\r\nX-A: a b c\r\nX-B: value\r\nX-C: c\r\n" +
		"Set-Cookie: n=v; path=/p\r\nTransfer-Encoding: chunked\r\n\r\n"
	jar := http.NewJar()
	s := &script{replies: [][]string{{reply, ok, ok}}}
	client := s.newClient(t, http.Options{Jar: jar})
	var n notes
	req := newRequest("http://h/")
	req.Trace = n.trace()
	resp, _, err := get(t, client, req)
	if err != nil {
		t.Fatal(err)
	}
	if string(resp.Head) != want {
		t.Errorf("head\n got %q\nwant %q", resp.Head, want)
	}
	if resp.Header.Get("X-A") != "a b c" || resp.Header.Get("X-B") != "value" || resp.Header.Get("X-C") != "c" || resp.Trailer().Get("X-T") != "t u" {
		t.Errorf("fields %q, trailer %q", resp.Header, resp.Trailer())
	}
	if n.got.String() != reply {
		t.Errorf("trace %q", n.got.String())
	}
	for _, url := range []string{"http://h/p/x", "http://h/"} {
		if _, _, err := get(t, client, newRequest(url)); err != nil {
			t.Fatal(err)
		}
	}
	heads := s.heads()
	if !strings.Contains(heads[1], "\r\nCookie: n=v\r\n") || strings.Contains(heads[2], "Cookie") {
		t.Errorf("sent %q", heads[1:])
	}
}

// TestHeadUnsupported checks that a server without support for HEAD receives
// GET, and that the connection is closed after the head.
func TestHeadUnsupported(t *testing.T) {
	const page = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 1000000\r\n\r\n"
	const digest = "HTTP/1.1 401 x\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\nContent-Length: 0\r\n\r\n"
	no := func(status string) string {
		return "HTTP/1.1 " + status + "\r\nAllow: GET\r\nContent-Length: 0\r\n\r\n"
	}
	for _, test := range []struct {
		name    string
		replies []string
		sent    string // methods
		code    int
		fault   fetch.Fault
	}{
		{"HEAD supported", []string{page}, "HEAD", 200, 0},
		{"501", []string{no("501 x"), page}, "HEAD GET", 200, 0},
		{"405", []string{no("405 x"), page}, "HEAD GET", 200, 0},
		{"405 after a digest challenge", []string{digest, no("405 x"), page}, "HEAD HEAD GET", 200, 0},
		{"405 and a redirect", []string{no("405 x"), "HTTP/1.1 302 x\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n", no("405 x"), page}, "HEAD GET HEAD GET", 200, 0},
		{"405 and an error status", []string{no("405 x"), "HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n"}, "HEAD GET", 404, fetch.NotFound},
		{"405 for HEAD and GET", []string{no("405 x"), no("405 x")}, "HEAD GET", 405, fetch.Denied},
		{"404", []string{no("404 x")}, "HEAD", 404, fetch.NotFound},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &script{replies: [][]string{test.replies, test.replies[min(2, len(test.replies)):]}}
			req := newRequest("http://u:p@h/")
			req.Op = fetch.Stat
			resp, body, err := get(t, s.newClient(t, http.Options{Auth: http.AnyAuth}), req)
			var e *fetch.Error
			switch {
			case test.fault != 0:
				if !errors.Is(err, test.fault) || !errors.As(err, &e) || e.Code != test.code {
					t.Errorf("got %v", err)
				}
			case err != nil || body != "" || resp.Code != 200 || resp.Size != 1000000 || string(resp.Head) != page:
				t.Errorf("got %q, %+v, %v", body, resp, err)
			}
			var sent []string
			for _, head := range s.heads() {
				method, _, _ := strings.Cut(head, " ")
				sent = append(sent, method)
				if n := len(sent); n > 2 && test.name == "405 after a digest challenge" && !strings.Contains(head, "nc=00000002") {
					t.Errorf("sent %q", head)
				}
			}
			if got := strings.Join(sent, " "); got != test.sent {
				t.Errorf("sent %s, want %s", got, test.sent)
			}
		})
	}
}

// TestBodyLimit checks that the limit applies to delivered bodies, and that a
// Content-Length above 62 bits exceeds it.
func TestBodyLimit(t *testing.T) {
	const redirect = "HTTP/1.1 302 x\r\nLocation: /b\r\nConnection: close\r\nContent-Length: "
	const huge = "99999999999999999999999"
	for _, test := range []struct {
		name    string
		replies []string
		limit   int64
		follow  bool
		body    string
		fault   fetch.Fault
	}{
		{"large redirect", []string{redirect + "1000\r\n\r\n"}, 10, true, "hello", 0},
		{"redirect with a length above 62 bits", []string{redirect + huge + "\r\n\r\n"}, 10, true, "hello", 0},
		{"large redirect without following", []string{redirect + "1000\r\n\r\n"}, 10, false, "", fetch.TooLarge},
		{"large body", []string{"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"}, 10, true, "", fetch.TooLarge},
		{"length above 62 bits", []string{"HTTP/1.1 200 OK\r\nContent-Length: " + huge + "\r\n\r\nhello"}, 10, true, "", fetch.TooLarge},
		{"length above 62 bits, largest limit", []string{"HTTP/1.1 200 OK\r\nContent-Length: " + huge + "\r\n\r\nhello"}, 1<<63 - 2, true, "", fetch.TooLarge},
		{"length above 62 bits, no limit", []string{"HTTP/1.1 200 OK\r\nContent-Length: " + huge + "\r\n\r\nhello"}, 0, true, "hello", 0},
		{"length above 62 bits and chunked", []string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: " + huge + "\r\n\r\n5\r\nhello\r\n0\r\n\r\n"}, 10, true, "hello", 0},
		{"large error page", []string{"HTTP/1.1 404 OK\r\nContent-Length: 1000\r\n\r\n"}, 10, true, "", fetch.NotFound},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &script{replies: [][]string{test.replies, {ok}}}
			req := newRequest("http://h/")
			req.NoFollow = !test.follow
			_, body, err := get(t, s.newClient(t, http.Options{}, func(o *fetch.Options) { o.Policy.MaxBody = test.limit }), req)
			if body != test.body || (test.fault == 0) != (err == nil) || test.fault != 0 && !errors.Is(err, test.fault) {
				t.Errorf("got %q, %v", body, err)
			}
		})
	}
}
