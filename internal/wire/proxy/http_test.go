package proxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/anyurl/fetch/internal/wire/httpauth"
)

const (
	askPlain = "CONNECT h.test:70 HTTP/1.1\r\nHost: h.test:70\r\nProxy-Connection: Keep-Alive\r\n\r\n"
	granted  = "HTTP/1.1 200 Connection established\r\n\r\n"
	// mary:s3cret
	askBasic = "CONNECT h.test:70 HTTP/1.1\r\nHost: h.test:70\r\n" +
		"Proxy-Authorization: Basic bWFyeTpzM2NyZXQ=\r\nProxy-Connection: Keep-Alive\r\n\r\n"
	wantsBasic = "HTTP/1.1 407 Login\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 3\r\n\r\nno\n"
)

var mary = httpauth.Login{User: "mary", Password: "s3cret"}

func connectCase(name string, turns []turn, err error) handshake {
	return handshake{name: name, scheme: "http", target: "h.test:70", turns: turns, err: err}
}

func withOptions(opts Options, h handshake) handshake {
	h.opts = opts
	return h
}

func replyCase(name, reply string, err error) handshake {
	return connectCase(name, []turn{{askPlain, reply}}, err)
}

func TestCONNECT(t *testing.T) {
	runAll(t, []handshake{
		replyCase("granted", granted, nil),
		replyCase("HTTP/1.0 proxy", "HTTP/1.0 200 OK\r\nVia: 1.0 p\r\n\r\n", nil),
		replyCase("no reason phrase", "HTTP/1.1 200\r\n\r\n", nil),
		replyCase("LF alone", "HTTP/1.1 200 OK\nVia: p\n\n", nil),
		replyCase("204", "HTTP/1.1 204 Fine\r\n\r\n", nil),
		replyCase("length of 2xx is ignored", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", nil),
		replyCase("interim replies", strings.Repeat("HTTP/1.1 102 Wait\r\nX: y\r\n\r\n", 5)+granted, nil),
		{name: "server speaks first", scheme: "https", target: "h.test:70",
			turns: []turn{{askPlain, granted + "220 hello\r\n"}}, rest: "220 hello\r\n"},
		{name: "IPv6", scheme: "http", target: "[2001:DB8:0::1]:443",
			turns: []turn{{"CONNECT [2001:db8::1]:443 HTTP/1.1\r\nHost: [2001:db8::1]:443\r\nProxy-Connection: Keep-Alive\r\n\r\n", granted}}},
		withOptions(Options{Agent: "fetch/1", Header: []Field{{"X-Team", "a b"}, {"x-team", "c"}}},
			connectCase("fields", []turn{{"CONNECT h.test:70 HTTP/1.1\r\nHost: h.test:70\r\nUser-Agent: fetch/1\r\n" +
				"Proxy-Connection: Keep-Alive\r\nX-Team: a b\r\nx-team: c\r\n\r\n", granted}}, nil)),
		withOptions(Options{Agent: "fetch/1", Header: []Field{{"user-agent", "other"}}},
			connectCase("agent replaced", []turn{{"CONNECT h.test:70 HTTP/1.1\r\nHost: h.test:70\r\n" +
				"Proxy-Connection: Keep-Alive\r\nuser-agent: other\r\n\r\n", granted}}, nil)),
		withOptions(Options{Header: []Field{{"Host", "other"}}},
			connectCase("host replaced", []turn{{"CONNECT h.test:70 HTTP/1.1\r\nProxy-Connection: Keep-Alive\r\nHost: other\r\n\r\n", granted}}, nil)),
		withOptions(Options{Header: []Field{{"Proxy-Authorization", "Bearer x"}}},
			connectCase("token", []turn{{"CONNECT h.test:70 HTTP/1.1\r\nHost: h.test:70\r\n" +
				"Proxy-Connection: Keep-Alive\r\nProxy-Authorization: Bearer x\r\n\r\n", granted}}, nil)),
	})
}

func TestCONNECTErrors(t *testing.T) {
	runAll(t, []handshake{
		replyCase("403", "HTTP/1.1 403 \x1b]0;x\x07\r\n\r\nbody", &RefusedError{"http", 403}),
		replyCase("503", "HTTP/1.0 503 Busy\r\n\r\n", &RefusedError{"http", 503}),
		replyCase("302 is not followed", "HTTP/1.1 302 Go\r\nLocation: http://evil/\r\n\r\n", &RefusedError{"http", 302}),
		replyCase("999", "HTTP/1.1 999 No\r\n\r\n", &RefusedError{"http", 999}),
		replyCase("101", "HTTP/1.1 101 Switch\r\n\r\n", ErrMalformed),
		replyCase("six interim replies", strings.Repeat("HTTP/1.1 100 Wait\r\n\r\n", 6)+granted, ErrTooLong),
		replyCase("HTTP/0.9", "<html>\r\n\r\n", ErrMalformed),
		replyCase("HTTP/2", "HTTP/2 200 OK\r\n\r\n", ErrMalformed),
		replyCase("ICY", "ICY 200 OK\r\n\r\n", ErrMalformed),
		replyCase("status code of two digits", "HTTP/1.1 20\r\n\r\n", ErrMalformed),
		replyCase("status code of four digits", "HTTP/1.1 2000 OK\r\n\r\n", ErrMalformed),
		replyCase("status code with a sign", "HTTP/1.1 +20 OK\r\n\r\n", ErrMalformed),
		replyCase("status code 099", "HTTP/1.1 099 OK\r\n\r\n", ErrMalformed),
		replyCase("field without colon", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", ErrMalformed),
		replyCase("space before colon", "HTTP/1.1 200 OK\r\nVia : p\r\n\r\n", ErrMalformed),
		replyCase("NUL in a field", "HTTP/1.1 200 OK\r\nVia: \x00\r\n\r\n", ErrMalformed),
		replyCase("CR in a field", "HTTP/1.1 200 OK\r\nVia: a\rb\r\n\r\n", ErrMalformed),
		replyCase("empty line first", "\r\nHTTP/1.1 200 OK\r\n\r\n", ErrMalformed),
		replyCase("closed at once", "", ErrClosed),
		replyCase("closed within the head", "HTTP/1.1 200 OK\r\nVia: p\r\n", ErrClosed),
		replyCase("501 fields", "HTTP/1.1 200 OK\r\n"+strings.Repeat("A: b\r\n", 501)+"\r\n", ErrTooLong),
		replyCase("500 fields", "HTTP/1.1 200 OK\r\n"+strings.Repeat("A: b\r\n", 500)+"\r\n", nil),
		replyCase("501 fields in two heads", "HTTP/1.1 100 OK\r\n"+strings.Repeat("A: b\r\n", 250)+
			"\r\nHTTP/1.1 200 OK\r\n"+strings.Repeat("A: b\r\n", 251)+"\r\n", ErrTooLong),
		replyCase("one megabyte of fields", "HTTP/1.1 200 OK\r\nA: "+strings.Repeat("b", 1<<20), ErrTooLong),
		replyCase("one megabyte of status line", "HTTP/1.1 200 "+strings.Repeat("b", 1<<20), ErrTooLong),
	})
}

func TestReplyInPieces(t *testing.T) {
	rest := strings.NewReader("HTTP/1.1 100 Go on\n\nHTTP/1.1 407 No\r\nA: b\r\n c\r\nA: d\r\n\r\nrest")
	h, err := readHead(iotest.OneByteReader(rest), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(h.Code, h.values("a")), "407 [b c d]"; got != want {
		t.Errorf("head %s, want %s", got, want)
	}
	if unread, _ := io.ReadAll(rest); string(unread) != "rest" {
		t.Errorf("unread %q", unread)
	}
}

func TestLogin(t *testing.T) {
	noLength := "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=p\r\n\r\n"
	runAll(t, []handshake{
		withOptions(Options{Login: mary}, connectCase("basic without a challenge", []turn{{askBasic, granted}}, nil)),
		withOptions(Options{Login: mary, Auth: httpauth.Any}, connectCase("any, basic challenge", []turn{{askPlain, wantsBasic}, {askBasic, granted}}, nil)),
		withOptions(Options{Login: mary, Auth: httpauth.Any}, connectCase("any, wrong password", []turn{{askPlain, wantsBasic}, {askBasic, wantsBasic}}, &AuthRequiredError{Tried: true})),
		withOptions(Options{Login: mary}, connectCase("basic, wrong password", []turn{{askBasic, wantsBasic}}, &AuthRequiredError{Tried: true})),
		withOptions(Options{Login: mary}, connectCase("wrong password, status 401 of tinyproxy", []turn{{askBasic, "HTTP/1.0 401 Unauthorized\r\n\r\n"}}, &AuthRequiredError{Tried: true})),
		connectCase("401 without a login", []turn{{askPlain, "HTTP/1.0 401 Unauthorized\r\n\r\n"}}, &RefusedError{"http", 401}),
		withOptions(Options{Login: mary, Auth: httpauth.Digest}, connectCase("digest, basic challenge", []turn{{askPlain, wantsBasic}}, &AuthRequiredError{})),
		withOptions(Options{Login: mary, Auth: httpauth.Any}, connectCase("any, unknown scheme",
			[]turn{{askPlain, "HTTP/1.1 407 No\r\nProxy-Authenticate: Negotiate\r\nContent-Length: 0\r\n\r\n"}}, &AuthRequiredError{})),
		connectCase("no login", []turn{{askPlain, wantsBasic}}, &AuthRequiredError{}),
		connectCase("407 without a challenge", []turn{{askPlain, "HTTP/1.1 407 No\r\n\r\n"}}, &AuthRequiredError{}),
		withOptions(Options{Login: mary, Auth: httpauth.Any}, connectCase("no length, new connection", []turn{{askPlain, noLength}}, &AuthRequiredError{Redial: true})),
	})
}

func TestRedial(t *testing.T) {
	for _, c := range []struct{ name, fields string }{
		{"closes", "Connection: close\r\nContent-Length: 0\r\n"},
		{"closes, in a list", "Connection: foo, Close\r\nContent-Length: 0\r\n"},
		{"closes, Proxy-Connection", "Proxy-Connection: close\r\nContent-Length: 0\r\n"},
		{"chunked", "Transfer-Encoding: chunked\r\n"},
		{"two lengths", "Content-Length: 0\r\nContent-Length: 1\r\n"},
		{"negative length", "Content-Length: -1\r\n"},
		{"long page", "Content-Length: 65537\r\n"},
		{"truncated page", "Content-Length: 10\r\n"},
	} {
		conn, wait := startProxy(t, []turn{{askPlain, "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=p\r\n" + c.fields + "\r\n"}})
		err := Connect(t.Context(), conn, "http", "h.test:70", Options{Login: mary, Auth: httpauth.Any})
		var need *AuthRequiredError
		if !errors.As(err, &need) || !need.Redial || need.Tried || len(need.Challenges) != 1 {
			t.Errorf("%s: %#v", c.name, err)
			continue
		}
		if err := wait(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		h := connectCase(c.name, []turn{{askBasic, granted}}, nil)
		h.opts = Options{Login: mary, Auth: httpauth.Any, Challenges: need.Challenges}
		h.run(t)
	}
}

func TestInvalidOptions(t *testing.T) {
	for _, c := range []struct {
		name string
		opts Options
	}{
		{"CRLF in a value", Options{Header: []Field{{"X", "a\r\nY: b"}}}},
		{"LF in a value", Options{Header: []Field{{"X", "a\nY: b"}}}},
		{"NUL in a value", Options{Header: []Field{{"X", "\x00"}}}},
		{"CRLF in a name", Options{Header: []Field{{"X: a\r\nY", "b"}}}},
		{"empty name", Options{Header: []Field{{"", "b"}}}},
		{"CRLF in the agent", Options{Agent: "a\r\nY: b"}},
		{"length", Options{Header: []Field{{"Content-Length", "5"}}}},
		{"coding", Options{Header: []Field{{"Transfer-Encoding", "chunked"}}}},
		{"login of the origin", Options{Header: []Field{{"Authorization", "Basic x"}}}}, // CVE-2015-3153
		{"cookie of the origin", Options{Header: []Field{{"Cookie", "a=b"}}}},           // CVE-2015-3153
		{"two logins", Options{Login: mary, Header: []Field{{"Proxy-Authorization", "Bearer x"}}}},
		{"colon in the user", Options{Login: httpauth.Login{User: "a:b", Password: "c"}}},
		{"CRLF in the user", Options{Login: httpauth.Login{User: "a\r\nb", Password: "c"}}},
		{"NUL in the password", Options{Login: httpauth.Login{User: "a", Password: "\x00"}}},
	} {
		conn := &writeRecorder{}
		if err := Connect(t.Context(), conn, "http", "h.test:70", c.opts); !errors.Is(err, ErrOption) {
			t.Errorf("%s: %v", c.name, err)
		}
		if conn.sent.Len() > 0 {
			t.Errorf("%s: sent %q", c.name, conn.sent.String())
		}
	}
}

// A writeRecorder is a connection that records written bytes. Its Read returns
// io.EOF.
type writeRecorder struct {
	net.Conn
	sent  strings.Builder
	reply io.Reader
}

func (r *writeRecorder) Write(p []byte) (int, error) { return r.sent.Write(p) }

func (r *writeRecorder) Read(p []byte) (int, error) {
	if r.reply == nil {
		return 0, io.EOF
	}
	return r.reply.Read(p)
}
