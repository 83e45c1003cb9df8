package http_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
)

// legacyReplies are responses of old servers. They are rejected, or accepted
// with a note.
var legacyReplies = []struct {
	name, reply string
	old         http.Legacy
	body        string
	code        int
	note        string // "" for no deviation
}{
	{"HTTP/1.1", ok, http.Legacy{Tolerant: true}, "hello", 200, ""},
	{"no head", "<html>hello</html>", http.Legacy{HTTP09: true}, "<html>hello</html>", 0, "HTTP/0.9"},
	{"blank lines only", "\r\n\n", http.Legacy{HTTP09: true, Tolerant: true}, "\r\n\n", 0, "HTTP/0.9"},
	{"no head, short body", "hi", http.Legacy{HTTP09: true}, "hi", 0, "HTTP/0.9"},
	{"ICY", "ICY 200 OK\r\nicy-name: x\r\n\r\nhello", http.Legacy{Tolerant: true}, "hello", 200, "version"},
	{"version in lower case", "http/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", http.Legacy{Tolerant: true}, "hello", 200, "version"},
	{"line without a colon", "HTTP/1.1 200 OK\r\nX-Y\r\nContent-Length: 5\r\n\r\nhello", http.Legacy{Tolerant: true}, "hello", 200, "colon"},
	{"NUL in a value", "HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 5\r\n\r\nhello", http.Legacy{Tolerant: true}, "hello", 200, "control"},
	{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\nhello", http.Legacy{Tolerant: true}, "hello", 200, "Content-Length"},
	{"length is not a number", "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello", http.Legacy{Tolerant: true}, "hello", 200, "Content-Length"},
	{"negative length", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello", http.Legacy{Tolerant: true}, "hello", 200, "Content-Length"},
	{"gzip as a transfer coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1d\r\n" + gzHello + "\r\n0\r\n\r\n", http.Legacy{Tolerant: true}, "hello", 200, "transfer coding"},
	{"status of two digits", "HTTP/1.1 20 OK\r\nContent-Length: 5\r\n\r\nhello", http.Legacy{Tolerant: true}, "hello", 200, "status"},
	{"no status", "HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", http.Legacy{Tolerant: true}, "hello", 200, "status"},
	{"blank line first", "\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", http.Legacy{Tolerant: true}, "hello", 200, "blank line"},
}

const gzHello = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\x48\xcd\xc9\xc9\x07\x00\x86\xa6\x10\x36\x05\x00\x00\x00"

func TestLegacyResponses(t *testing.T) {
	for _, test := range legacyReplies {
		t.Run(test.name, func(t *testing.T) {
			reply := strings.Replace(test.reply, "\r\n1d\r\n", sprintf("\r\n%x\r\n", len(gzHello)), 1)
			s := &script{replies: [][]string{{reply}}}
			var n notes
			req := newRequest("http://h/")
			req.Trace = n.trace()
			resp, body, err := get(t, s.newClient(t, http.Options{Legacy: test.old}), req)
			if err != nil || body != test.body || resp.Code != test.code {
				t.Fatalf("got %q, %+v, %v", body, resp, err)
			}
			if n.hasNote("deviation") != (test.note != "") || !n.hasNote(test.note) {
				t.Errorf("notes %q, want %q", n.text, test.note)
			}
			if got := n.got.String(); got != reply {
				t.Errorf("trace %q", got)
			}
			if test.note == "" {
				return
			}
			for _, strict := range []http.Legacy{{}, {HTTP10: true}} {
				s := &script{replies: [][]string{{reply}}}
				if _, body, err := get(t, s.newClient(t, http.Options{Legacy: strict}), newRequest("http://h/")); !errors.Is(err, fetch.Protocol) {
					t.Errorf("strict %+v: got %q, %v", strict, body, err)
				}
			}
		})
	}
}

func TestLegacyRequests(t *testing.T) {
	for _, test := range []struct {
		name, reply string
		old         http.Legacy
		line, body  string
		fault       fetch.Fault
	}{
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nhello", http.Legacy{HTTP10: true}, "GET /a HTTP/1.0\r\nHost: h\r\nUser-Agent: fetch\r\nAccept: */*\r\n\r\n", "hello", 0},
		{"HTTP/1.0, known length", ok + "more", http.Legacy{HTTP10: true}, "GET /a HTTP/1.0\r\n", "hello", 0},
		{"HTTP/1.0, truncated", "HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\nhello", http.Legacy{HTTP10: true}, "GET /a HTTP/1.0\r\n", "hello", fetch.Truncated},
		{"HTTP/1.0, chunked", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello", http.Legacy{HTTP10: true}, "GET /a HTTP/1.0\r\n", "5\r\nhello", 0},
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n", http.Legacy{Tolerant: true}, "GET /a HTTP/1.1\r\n", "hello", 0},
		{"truncated chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", http.Legacy{Tolerant: true}, "GET /a HTTP/1.1\r\n", "hello", fetch.Truncated},
		{"negative chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nhello\r\n", http.Legacy{Tolerant: true}, "GET /a HTTP/1.1\r\n", "", fetch.Protocol},
		{"raw", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x\r\nhello\r\n0\r\nA: b\r\n\r\nmore", http.Legacy{Raw: true}, "GET /a HTTP/1.1\r\n", "5;x\r\nhello\r\n0\r\nA: b\r\n\r\n", 0},
		{"raw, truncated", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", http.Legacy{Raw: true}, "GET /a HTTP/1.1\r\n", "5\r\nhel", fetch.Truncated},
		{"length ignored", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello", http.Legacy{IgnoreLength: true}, "GET /a HTTP/1.1\r\n", "hello", 0},
		{"no length", "HTTP/1.1 204 x\r\n\r\nhello", http.Legacy{Tolerant: true}, "GET /a HTTP/1.1\r\n", "", 0},
		{"interim response", "HTTP/1.1 100 x\r\n\r\n" + ok, http.Legacy{Tolerant: true}, "GET /a HTTP/1.1\r\n", "hello", 0},
		{"endless interim responses", strings.Repeat("HTTP/1.1 100 x\r\n\r\n", 6) + ok, http.Legacy{Tolerant: true}, "GET /a HTTP/1.1\r\n", "", fetch.Protocol},
		{"empty response", "", http.Legacy{HTTP09: true, Tolerant: true}, "GET /a HTTP/1.1\r\n", "", fetch.Connect},
		{"truncated head", "HTTP/1.1 200 OK\r\nX", http.Legacy{Tolerant: true}, "GET /a HTTP/1.1\r\n", "", fetch.Truncated},
		{"large head", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 300<<10), http.Legacy{Tolerant: true}, "GET /a HTTP/1.1\r\n", "", fetch.TooLarge},
		{"many fields", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 600), http.Legacy{Tolerant: true}, "GET /a HTTP/1.1\r\n", "", fetch.TooLarge},
		{"not found", "HTTP/1.0 404 x\r\n\r\nhello", http.Legacy{HTTP10: true}, "GET /a HTTP/1.0\r\n", "", fetch.NotFound},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &script{replies: [][]string{{test.reply}}}
			_, body, err := get(t, s.newClient(t, http.Options{Legacy: test.old}), newRequest("http://h/a"))
			if body != test.body || (test.fault == 0) != (err == nil) || test.fault != 0 && !errors.Is(err, test.fault) {
				t.Errorf("got %q, %v (%v), want %q, %v", body, err, fetch.FaultOf(err), test.body, test.fault)
			}
			if head := s.heads()[0]; !strings.HasPrefix(head, test.line) {
				t.Errorf("sent %q, want %q", head, test.line)
			}
		})
	}
}

func TestLegacyTLS(t *testing.T) {
	for _, cut := range []bool{false, true} {
		s := &script{replies: [][]string{{"HTTP/1.0 200 OK\r\n\r\nhello"}}, cutTLS: cut}
		resp, body, err := get(t, s.newClient(t, http.Options{Legacy: http.Legacy{HTTP10: true}}, s.withTLS(t)), newRequest("https://h/"))
		if body != "hello" || cut != errors.Is(err, fetch.Truncated) || !cut && (err != nil || !resp.Peer.IsValid()) {
			t.Errorf("cut %t: got %q, %v", cut, body, err)
		}
	}
}

// FuzzLegacyResponse checks that malformed responses cause neither a panic nor
// an unlimited body.
func FuzzLegacyResponse(f *testing.F) {
	for _, test := range legacyReplies {
		f.Add(test.reply, 15)
	}
	f.Fuzz(func(t *testing.T, reply string, flags int) {
		old := http.Legacy{Tolerant: flags&1 > 0, HTTP09: flags&2 > 0, IgnoreLength: flags&4 > 0, Raw: flags&8 > 0, HTTP10: true}
		s := &script{replies: [][]string{{reply}}}
		req := newRequest("http://h/")
		req.NoFollow = true
		_, body, err := get(t, s.newClient(t, http.Options{Legacy: old}), req)
		if err == nil && !strings.Contains(reply, body) && !strings.Contains(strings.ToLower(reply), "chunked") {
			t.Errorf("%q became %q", reply, body)
		}
	})
}
