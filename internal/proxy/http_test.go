package proxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/anyurl/fetch/internal/httpauth"
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

func connect(name string, turns []turn, err error) handshake {
	return handshake{name: name, scheme: "http", target: "h.test:70", turns: turns, err: err}
}

func with(opts Options, h handshake) handshake {
	h.opts = opts
	return h
}

func replies(name, reply string, err error) handshake {
	return connect(name, []turn{{askPlain, reply}}, err)
}

func TestCONNECT(t *testing.T) {
	runAll(t, []handshake{
		replies("granted", granted, nil),
		replies("old proxy", "HTTP/1.0 200 OK\r\nVia: 1.0 p\r\n\r\n", nil),
		replies("no reason phrase", "HTTP/1.1 200\r\n\r\n", nil),
		replies("LF alone", "HTTP/1.1 200 OK\nVia: p\n\n", nil),
		replies("204", "HTTP/1.1 204 Fine\r\n\r\n", nil),
		replies("length of 2xx means nothing", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", nil),
		replies("interim replies", strings.Repeat("HTTP/1.1 102 Wait\r\nX: y\r\n\r\n", 5)+granted, nil),
		{name: "server speaks first", scheme: "https", target: "h.test:70",
			turns: []turn{{askPlain, granted + "220 hello\r\n"}}, rest: "220 hello\r\n"},
		{name: "IPv6", scheme: "http", target: "[2001:DB8:0::1]:443",
			turns: []turn{{"CONNECT [2001:db8::1]:443 HTTP/1.1\r\nHost: [2001:db8::1]:443\r\nProxy-Connection: Keep-Alive\r\n\r\n", granted}}},
		with(Options{Agent: "fetch/1", Header: []Field{{"X-Team", "a b"}, {"x-team", "c"}}},
			connect("fields", []turn{{"CONNECT h.test:70 HTTP/1.1\r\nHost: h.test:70\r\nUser-Agent: fetch/1\r\n" +
				"Proxy-Connection: Keep-Alive\r\nX-Team: a b\r\nx-team: c\r\n\r\n", granted}}, nil)),
		with(Options{Agent: "fetch/1", Header: []Field{{"user-agent", "other"}}},
			connect("agent replaced", []turn{{"CONNECT h.test:70 HTTP/1.1\r\nHost: h.test:70\r\n" +
				"Proxy-Connection: Keep-Alive\r\nuser-agent: other\r\n\r\n", granted}}, nil)),
		with(Options{Header: []Field{{"Host", "other"}}},
			connect("host replaced", []turn{{"CONNECT h.test:70 HTTP/1.1\r\nProxy-Connection: Keep-Alive\r\nHost: other\r\n\r\n", granted}}, nil)),
		with(Options{Header: []Field{{"Proxy-Authorization", "Bearer x"}}},
			connect("token", []turn{{"CONNECT h.test:70 HTTP/1.1\r\nHost: h.test:70\r\n" +
				"Proxy-Connection: Keep-Alive\r\nProxy-Authorization: Bearer x\r\n\r\n", granted}}, nil)),
	})
}

func TestCONNECTRefused(t *testing.T) {
	runAll(t, []handshake{
		replies("403", "HTTP/1.1 403 \x1b]0;x\x07\r\n\r\nbody", &RefusedError{"http", 403}),
		replies("503", "HTTP/1.0 503 Busy\r\n\r\n", &RefusedError{"http", 503}),
		replies("302 is not followed", "HTTP/1.1 302 Go\r\nLocation: http://evil/\r\n\r\n", &RefusedError{"http", 302}),
		replies("999", "HTTP/1.1 999 No\r\n\r\n", &RefusedError{"http", 999}),
		replies("101", "HTTP/1.1 101 Switch\r\n\r\n", ErrMalformed),
		replies("six interim replies", strings.Repeat("HTTP/1.1 100 Wait\r\n\r\n", 6)+granted, ErrTooLong),
		replies("HTTP/0.9", "<html>\r\n\r\n", ErrMalformed),
		replies("HTTP/2", "HTTP/2 200 OK\r\n\r\n", ErrMalformed),
		replies("ICY", "ICY 200 OK\r\n\r\n", ErrMalformed),
		replies("code of two digits", "HTTP/1.1 20\r\n\r\n", ErrMalformed),
		replies("code of four digits", "HTTP/1.1 2000 OK\r\n\r\n", ErrMalformed),
		replies("code with sign", "HTTP/1.1 +20 OK\r\n\r\n", ErrMalformed),
		replies("code 099", "HTTP/1.1 099 OK\r\n\r\n", ErrMalformed),
		replies("field without colon", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", ErrMalformed),
		replies("space before colon", "HTTP/1.1 200 OK\r\nVia : p\r\n\r\n", ErrMalformed),
		replies("NUL in a field", "HTTP/1.1 200 OK\r\nVia: \x00\r\n\r\n", ErrMalformed),
		replies("CR in a field", "HTTP/1.1 200 OK\r\nVia: a\rb\r\n\r\n", ErrMalformed),
		replies("empty line first", "\r\nHTTP/1.1 200 OK\r\n\r\n", ErrMalformed),
		replies("closed at once", "", ErrClosed),
		replies("closed within the head", "HTTP/1.1 200 OK\r\nVia: p\r\n", ErrClosed),
		replies("501 fields", "HTTP/1.1 200 OK\r\n"+strings.Repeat("A: b\r\n", 501)+"\r\n", ErrTooLong),
		replies("500 fields", "HTTP/1.1 200 OK\r\n"+strings.Repeat("A: b\r\n", 500)+"\r\n", nil),
		replies("501 fields in two heads", "HTTP/1.1 100 OK\r\n"+strings.Repeat("A: b\r\n", 250)+
			"\r\nHTTP/1.1 200 OK\r\n"+strings.Repeat("A: b\r\n", 251)+"\r\n", ErrTooLong),
		replies("a megabyte", "HTTP/1.1 200 OK\r\nA: "+strings.Repeat("b", 1<<20), ErrTooLong),
		replies("a megabyte of status", "HTTP/1.1 200 "+strings.Repeat("b", 1<<20), ErrTooLong),
	})
}

func TestReplyInPieces(t *testing.T) {
	rest := strings.NewReader("HTTP/1.1 100 Go on\n\nHTTP/1.1 407 No\r\nA: b\r\n c\r\nA: d\r\n\r\nrest")
	h, err := readHead(iotest.OneByteReader(rest))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(h.Code, h.values("a")), "407 [b c d]"; got != want {
		t.Errorf("head %s, want %s", got, want)
	}
	if left, _ := io.ReadAll(rest); string(left) != "rest" {
		t.Errorf("left %q", left)
	}
}

func TestLogin(t *testing.T) {
	noLength := "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=p\r\n\r\n"
	runAll(t, []handshake{
		with(Options{Login: mary}, connect("basic unasked", []turn{{askBasic, granted}}, nil)),
		with(Options{Login: mary, Auth: httpauth.Any}, connect("any, asked for basic", []turn{{askPlain, wantsBasic}, {askBasic, granted}}, nil)),
		with(Options{Login: mary, Auth: httpauth.Any}, connect("any, wrong", []turn{{askPlain, wantsBasic}, {askBasic, wantsBasic}}, &AuthRequiredError{Tried: true})),
		with(Options{Login: mary}, connect("basic, wrong", []turn{{askBasic, wantsBasic}}, &AuthRequiredError{Tried: true})),
		with(Options{Login: mary}, connect("wrong, as tinyproxy says it", []turn{{askBasic, "HTTP/1.0 401 Unauthorized\r\n\r\n"}}, &AuthRequiredError{Tried: true})),
		connect("401 without a login", []turn{{askPlain, "HTTP/1.0 401 Unauthorized\r\n\r\n"}}, &RefusedError{"http", 401}),
		with(Options{Login: mary, Auth: httpauth.Digest}, connect("digest, asked for basic", []turn{{askPlain, wantsBasic}}, &AuthRequiredError{})),
		with(Options{Login: mary, Auth: httpauth.Any}, connect("any, asked for what we have not",
			[]turn{{askPlain, "HTTP/1.1 407 No\r\nProxy-Authenticate: Negotiate\r\nContent-Length: 0\r\n\r\n"}}, &AuthRequiredError{})),
		connect("no login", []turn{{askPlain, wantsBasic}}, &AuthRequiredError{}),
		connect("407 without a challenge", []turn{{askPlain, "HTTP/1.1 407 No\r\n\r\n"}}, &AuthRequiredError{}),
		with(Options{Login: mary, Auth: httpauth.Any}, connect("no length: dial again", []turn{{askPlain, noLength}}, &AuthRequiredError{Redial: true})),
	})
}

func TestRedial(t *testing.T) {
	for _, c := range []struct{ name, fields string }{
		{"closes", "Connection: close\r\nContent-Length: 0\r\n"},
		{"closes, in a list", "Connection: foo, Close\r\nContent-Length: 0\r\n"},
		{"closes, old field", "Proxy-Connection: close\r\nContent-Length: 0\r\n"},
		{"chunked", "Transfer-Encoding: chunked\r\n"},
		{"two lengths", "Content-Length: 0\r\nContent-Length: 1\r\n"},
		{"negative length", "Content-Length: -1\r\n"},
		{"long page", "Content-Length: 65537\r\n"},
		{"cut page", "Content-Length: 10\r\n"},
	} {
		conn, wait := play(t, []turn{{askPlain, "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=p\r\n" + c.fields + "\r\n"}})
		err := Connect(t.Context(), conn, "http", "h.test:70", Options{Login: mary, Auth: httpauth.Any})
		var need *AuthRequiredError
		if !errors.As(err, &need) || !need.Redial || need.Tried || len(need.Challenges) != 1 {
			t.Errorf("%s: %#v", c.name, err)
			continue
		}
		if err := wait(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		h := connect(c.name, []turn{{askBasic, granted}}, nil)
		h.opts = Options{Login: mary, Auth: httpauth.Any, Challenges: need.Challenges}
		h.run(t)
	}
}

func TestOptionsRefused(t *testing.T) {
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
		conn := &recorder{}
		if err := Connect(t.Context(), conn, "http", "h.test:70", c.opts); !errors.Is(err, ErrOption) {
			t.Errorf("%s: %v", c.name, err)
		}
		if conn.sent.Len() > 0 {
			t.Errorf("%s: sent %q", c.name, conn.sent.String())
		}
	}
}

// A recorder keeps what is written and has nothing to read.
type recorder struct {
	net.Conn
	sent  strings.Builder
	reply io.Reader
}

func (r *recorder) Write(p []byte) (int, error) { return r.sent.Write(p) }

func (r *recorder) Read(p []byte) (int, error) {
	if r.reply == nil {
		return 0, io.EOF
	}
	return r.reply.Read(p)
}
