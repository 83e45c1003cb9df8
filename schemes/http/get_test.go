package http_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
)

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

// TestPlanMatchesRequest checks that the plan is equal to the request on the
// wire.
func TestPlanMatchesRequest(t *testing.T) {
	s := &script{replies: [][]string{{ok}}}
	client := s.newClient(t, http.Options{})
	req := newRequest("http://h.example:8080//x/../%7e?a=%20")
	req.Header = fetch.Header{{Name: "x-b", Value: "1"}, {Name: "Accept", Value: "text/html"}, {Name: "X-a", Value: "2"}}
	req.Range = fetch.Range{First: 0, End: 5}
	plan, err := client.Plan(req)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, step := range plan {
		want.WriteString(step.String() + "\r\n")
	}
	if _, body, err := get(t, client, req); body != "hello" || err != nil {
		t.Fatalf("got %q, %v", body, err)
	}
	if got := s.heads(); len(got) != 1 || got[0] != want.String()+"\r\n" {
		t.Errorf("sent %q, want %q", got, want.String())
	}
}

func TestResponse(t *testing.T) {
	const page = "HTTP/1.1 200 Fine by me\r\nDate: Fri, 02 Jan 2026 03:04:05 GMT\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n" +
		"content-type: text/html; charset=utf-8\r\nX-B: 1\r\nx-a: 2\r\nX-B: 3\r\nContent-Length: 5\r\n\r\n"
	s := &script{replies: [][]string{{page + "hello", page}}}
	client := s.newClient(t, http.Options{})
	for _, op := range []fetch.Op{fetch.Get, fetch.Stat} {
		req := newRequest("http://h/")
		req.Op = op
		resp, body, err := get(t, client, req)
		if err != nil {
			t.Fatal(err)
		}
		want := map[fetch.Op]string{fetch.Get: "hello"}[op]
		if body != want || resp.Size != 5 || resp.Offset != 0 || resp.Code != 200 || resp.Proto != "HTTP/1.1" || resp.Kind != fetch.Document {
			t.Errorf("%s: body %q, response %+v", op, body, resp)
		}
		if resp.Media != "text/html; charset=utf-8" || resp.Validator != "Sun, 06 Nov 1994 08:49:37 GMT" || resp.Time.Unix() != 784111777 {
			t.Errorf("%s: media %q, validator %q, time %v", op, resp.Media, resp.Validator, resp.Time)
		}
		if string(resp.Head) != page || resp.Peer.String() != "8.8.8.8" {
			t.Errorf("%s: head %q, peer %v", op, resp.Head, resp.Peer)
		}
		var names []string
		for _, f := range resp.Header {
			names = append(names, f.Name+"="+f.Value)
		}
		if got := strings.Join(names[2:], " "); got != "content-type=text/html; charset=utf-8 X-B=1 x-a=2 X-B=3 Content-Length=5" {
			t.Errorf("%s: header %q", op, got)
		}
	}
	if s.conns != 1 {
		t.Errorf("%d connections, want 1", s.conns)
	}
}

func TestHeadOfInterimResponses(t *testing.T) {
	const head = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 0\r\n\r\n"
	s := &script{replies: [][]string{{head}}}
	resp, _, err := get(t, s.newClient(t, http.Options{}), newRequest("http://h/"))
	if err != nil || string(resp.Head) != head || len(resp.Header) != 2 {
		t.Errorf("got %+v, %v", resp, err)
	}
}

func TestStatus(t *testing.T) {
	for _, test := range []struct {
		status string
		want   fetch.Fault
		retry  time.Duration
	}{
		{"401 Unauthorized", fetch.Auth, 0},
		{"403 Forbidden", fetch.Denied, 0},
		{"404 Not Found", fetch.NotFound, 0},
		{"407 \x1b[31mred", fetch.Auth, 0},
		{"408 x", fetch.TryLater, 0},
		{"410 Gone", fetch.NotFound, 0},
		{"416 x", fetch.Denied, 0},
		{"425 x", fetch.TryLater, 0},
		{"429 x\r\nRetry-After: 120", fetch.TryLater, 2 * time.Minute},
		{"451 x", fetch.Denied, 0},
		{"500 x", fetch.TryLater, 0},
		{"501 x", fetch.Denied, 0},
		{"502 x", fetch.TryLater, 0},
		{"503 x\r\nRetry-After: Fri, 02 Jan 2026 03:05:05 GMT", fetch.TryLater, time.Minute},
		{"503 past\r\nRetry-After: Fri, 02 Jan 2026 03:03:05 GMT", fetch.TryLater, 0},
		{"503 negative\r\nRetry-After: -5", fetch.TryLater, 0},
		{"503 long\r\nRetry-After: 99999999999999999999", fetch.TryLater, 10 * time.Minute},
		{"503 text\r\nRetry-After: soon", fetch.TryLater, 0},
		{"504 x", fetch.TryLater, 0},
		{"522 x", fetch.TryLater, 0},
		{"524 x", fetch.TryLater, 0},
		{"505 x", fetch.Denied, 0},
		{"999 x", fetch.Protocol, 0},
		{"600 x", fetch.Protocol, 0},
		{"099 x", fetch.Protocol, 0},
		{"101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade", fetch.Protocol, 0},
		{"304 Not Modified", fetch.Protocol, 0},
		{"206 Partial Content\r\nContent-Range: bytes 0-4/5", fetch.Protocol, 0},
	} {
		t.Run(test.status, func(t *testing.T) {
			s := &script{replies: [][]string{{"HTTP/1.1 " + test.status + "\r\nContent-Length: 5\r\n\r\nhello"}}}
			_, _, err := get(t, s.newClient(t, http.Options{}), newRequest("http://u:s3cret@h/"))
			var e *fetch.Error
			if !errors.As(err, &e) || !errors.Is(err, test.want) || e.RetryAfter != test.retry {
				t.Fatalf("got %v (%v, retry %v), want %v, %v", err, fetch.FaultOf(err), e.RetryAfter, test.want, test.retry)
			}
			if text := err.Error(); strings.Contains(text, "s3cret") || strings.Contains(text, "\x1b") {
				t.Errorf("error shows %q", text)
			}
		})
	}
}

func TestErrorBody(t *testing.T) {
	s := &script{replies: [][]string{{"HTTP/1.1 404 x\r\nContent-Length: 5\r\n\r\nhello"}}}
	req := newRequest("http://h/")
	req.ErrorBody = true
	resp, body, err := get(t, s.newClient(t, http.Options{}), req)
	if err != nil || body != "hello" || !errors.Is(resp.Fault, fetch.NotFound) || resp.Code != 404 {
		t.Errorf("got %q, %+v, %v", body, resp, err)
	}
}

// TestFaults checks the class of the error for malformed and truncated
// responses, and the bytes delivered before it.
func TestFaults(t *testing.T) {
	for _, test := range []struct {
		name, reply, body string
		want              fetch.Fault
	}{
		{"empty response", "", "", fetch.Connect},
		{"truncated head", "HTTP/1.1 200 OK\r\nContent-", "", fetch.Truncated},
		{"truncated body of known length", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", "hello", fetch.Truncated},
		{"truncated chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhello", "hello", fetch.Truncated},
		{"no last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "hello", fetch.Truncated},
		{"negative chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nhello\r\n0\r\n\r\n", "", fetch.Protocol},
		{"chunk of 17 digits", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF1\r\nhello\r\n0\r\n\r\n", "", fetch.Protocol},
		{"bare CR in the size of a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\rhello\r\n0\r\n\r\n", "", fetch.Protocol},
		{"field of 100 KiB", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 100<<10) + "\r\nContent-Length: 0\r\n\r\n", "", fetch.TooLarge},
		{"no line end after a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n", "hello", fetch.Protocol},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 1000\r\n\r\nhello", "", fetch.Protocol},
		{"negative length", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello", "", fetch.Protocol},
		{"length is not a number", "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello", "", fetch.Protocol},
		{"unknown transfer coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "", fetch.Protocol},
		{"six interim responses", strings.Repeat("HTTP/1.1 102 x\r\n\r\n", 6) + ok, "", fetch.Protocol},
		{"garbage", "\x00\x1b[31m\r\n\r\n", "", fetch.Protocol},
		{"http 0.9", "<html>hello</html>", "", fetch.Protocol},
		{"field without colon", "HTTP/1.1 200 OK\r\n\x1b]0;x\x07\r\n\r\n", "", fetch.Protocol},
		{"large head", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 300<<10) + "\r\n\r\n", "", fetch.TooLarge},
		{"many fields", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 501) + "\r\n", "", fetch.TooLarge},
		{"two locations", "HTTP/1.1 301 x\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n", "", fetch.Protocol},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &script{replies: [][]string{{test.reply}}}
			_, body, err := get(t, s.newClient(t, http.Options{}), newRequest("http://h/"))
			if body != test.body || !errors.Is(err, test.want) {
				t.Errorf("got %q, %v (%v), want %q, %v", body, err, fetch.FaultOf(err), test.body, test.want)
			}
			if strings.ContainsAny(err.Error(), "\x1b\x07\x00") {
				t.Errorf("control characters in %q", err)
			}
		})
	}
}

func TestBodyWithoutLength(t *testing.T) {
	s := &script{replies: [][]string{{"HTTP/1.1 200 OK\r\n\r\nhello"}}}
	resp, body, err := get(t, s.newClient(t, http.Options{}), newRequest("http://h/"))
	if err != nil || body != "hello" || resp.Size != -1 {
		t.Errorf("got %q, size %d, %v", body, resp.Size, err)
	}
}

// TestSurplusBytes checks that bytes after a response are ignored and that the
// connection is not reused.
func TestSurplusBytes(t *testing.T) {
	forged := "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
	for name, reply := range map[string]string{
		"length":  ok + forged,
		"chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nTrailer: x\r\n\r\n" + forged,
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{replies: [][]string{{reply, forged}, {ok}}}
			client := s.newClient(t, http.Options{})
			for i := range 2 {
				var n notes
				req := newRequest("http://h/")
				req.Trace = n.trace()
				_, body, err := get(t, client, req)
				if body != "hello" || err != nil {
					t.Errorf("request %d: got %q, %v", i, body, err)
				}
				if i == 0 && (!n.hasNote("server sent data after the response") || n.got.String() != strings.TrimSuffix(reply, forged)) {
					t.Errorf("notes %q, trace %q", n.text, n.got.String())
				}
			}
			if s.conns != 2 {
				t.Errorf("%d connections, want 2", s.conns)
			}
		})
	}
}

func TestUserinfoNotInHost(t *testing.T) {
	s := &script{replies: [][]string{{ok}}}
	if _, _, err := get(t, s.newClient(t, http.Options{}), newRequest("http://user:s3cret@h/")); err != nil {
		t.Fatal(err)
	}
	head := s.heads()[0]
	if !strings.Contains(head, "\r\nHost: h\r\n") || !strings.Contains(head, "\r\nAuthorization: Basic dXNlcjpzM2NyZXQ=\r\n") {
		t.Errorf("sent %q", head)
	}
}

func TestCloseEarly(t *testing.T) {
	s := &script{replies: [][]string{{"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nhello"}}}
	client := s.newClient(t, http.Options{})
	resp, err := client.Do(t.Context(), newRequest("http://h/"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(resp.Body, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
}
