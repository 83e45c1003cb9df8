package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/internal/wire/httpauth"
)

var proxySchemes = []string{"http", "https", "socks4", "socks4a", "socks5", "socks5h"}

func TestInvalidTarget(t *testing.T) {
	for _, target := range []string{
		"", "h", "h:", ":70", "h:0", "h:65536", "h:99999", "h:+70", "h:-1", "h: 70", "h:7a", "h:0x46", "2001:db8::1:70",
		"a\r\nb:70", "a\nb:70", "a\rb:70", "a\x00b:70", "a b:70", "a\tb:70", "a/b:70", "a?b:70", "a#b:70", "a@b:70", "a\\b:70",
		"a%0d%0ab:70", "h:70\r\n", "h:70 HTTP/1.1\r\nX: y", "ünïcode:70", "\xff:70", "[::1%25lo]:70", "[fe80::1%lo]:70",
		"[h]:70", "[192.0.2.7]:70", "[]:70", "[::1:70", "::1]:70", strings.Repeat("x", 256) + ":70",
	} {
		for _, scheme := range proxySchemes {
			conn := &writeRecorder{}
			if err := Connect(t.Context(), conn, scheme, target, Options{}); !errors.Is(err, ErrTarget) {
				t.Errorf("%s to %q: %v", scheme, target, err)
			}
			if conn.sent.Len() > 0 {
				t.Errorf("%s to %q: sent %q", scheme, target, conn.sent.String())
			}
		}
	}
	if err := Connect(t.Context(), &writeRecorder{}, "ftp", "h:70", Options{}); !errors.Is(err, ErrOption) {
		t.Errorf("proxy of scheme ftp: %v", err)
	}
}

// TestContextDuringHandshake checks that the end of ctx interrupts every step
// of the handshake and is the cause of the error.
func TestContextDuringHandshake(t *testing.T) {
	for _, c := range []struct {
		scheme string
		turns  []turn
	}{
		{"http", nil},
		{"http", []turn{{askPlain, ""}}},
		{"http", []turn{{askPlain, "HTTP/1.1 200 OK\r\n"}}},
		{"http", []turn{{askPlain, wantsBasic[:len(wantsBasic)-1]}}},
		{"socks4", []turn{{"\x04\x01\x00\x46\xc0\x00\x02\x07mary\x00", "\x00"}}},
		{"socks5", []turn{{"\x05\x02\x00\x02", ""}}},
		{"socks5", []turn{{"\x05\x02\x00\x02", "\x05\x00"}}},
		{"socks5", []turn{{"\x05\x02\x00\x02", "\x05\x02"}, {"\x01\x04mary\x06s3cret", ""}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			conn, proxyConn := net.Pipe()
			defer proxyConn.Close()
			defer conn.Close()
			proxyErr := make(chan error, 1)
			go func() { proxyErr <- runTurns(proxyConn, c.turns) }()
			target := "192.0.2.7:70"
			if c.scheme == "http" {
				target = "h.test:70"
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			start := time.Now()
			err := Connect(ctx, conn, c.scheme, target, Options{Login: mary, Auth: httpauth.Any})
			if elapsed := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || elapsed != 10*time.Second {
				t.Errorf("%s %q: %v after %v", c.scheme, c.turns, err, elapsed)
			}
			if err := <-proxyErr; err != nil {
				t.Errorf("%s: %v", c.scheme, err)
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	because := errors.New("because")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(because)
	conn, proxyConn := net.Pipe()
	defer proxyConn.Close()
	if err := Connect(ctx, conn, "http", "h.test:70", Options{}); err != because {
		t.Errorf("error %v, want the cause", err)
	}
}

// TestDeadlineUnchanged checks that a deadline of the caller is kept after the
// handshake, and that the end of ctx then has no effect.
func TestDeadlineUnchanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, wait := startProxy(t, []turn{{askPlain, granted}, {"more", ""}})
		conn.SetReadDeadline(time.Now().Add(time.Hour))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if err := Connect(ctx, conn, "http", "h.test:70", Options{}); err != nil {
			t.Fatal(err)
		}
		cancel()
		time.Sleep(2 * time.Minute)
		start := time.Now()
		if _, err := conn.Read(make([]byte, 1)); err == nil || time.Since(start) != 58*time.Minute {
			t.Errorf("read ended with %v after %v", err, time.Since(start))
		}
		fmt.Fprint(conn, "more")
		if err := wait(); err != nil {
			t.Error(err)
		}
	})
}

// FuzzOneRequest checks that the proxy receives exactly one request, or none if
// the target or the options are invalid.
func FuzzOneRequest(f *testing.F) {
	f.Add("h.test:70", "mary", "s3cret", "X-A", "b", "agent")
	f.Add("h.test:70\r\nX: y", "m\r\n", "\x00", "Content-Length", "5", "a\nb")
	f.Fuzz(func(t *testing.T, target, user, password, name, value, agent string) {
		opts := Options{Login: httpauth.Login{User: user, Password: password}, Agent: agent, Header: []Field{{name, value}}}
		conn := &writeRecorder{}
		Connect(t.Context(), conn, "http", target, opts)
		if sent := conn.sent.String(); sent != "" {
			checkOneRequest(t, sent, target)
		}
		for _, scheme := range proxySchemes[2:] {
			conn := &writeRecorder{reply: strings.NewReader("\x05\x02\x01\x00")}
			Connect(t.Context(), conn, scheme, target, opts)
			if sent := conn.sent.String(); sent != "" && len(sent) != requestLen(sent) {
				t.Fatalf("%s to %q: sent %q, which ends at %d", scheme, target, sent, requestLen(sent))
			}
		}
	})
}

func checkOneRequest(t *testing.T, sent, target string) {
	t.Helper()
	left := strings.NewReader(sent)
	r := bufio.NewReader(left)
	req, err := http.ReadRequest(r)
	if err != nil {
		t.Fatalf("%q: %v", sent, err)
	}
	if req.Method != "CONNECT" || req.Host != req.RequestURI || req.ContentLength != 0 || r.Buffered()+left.Len() != 0 {
		t.Fatalf("%q is not one request", sent)
	}
	if _, port, _ := net.SplitHostPort(target); !strings.HasSuffix(req.Host, strings.TrimLeft(port, "0")) {
		t.Fatalf("%q for target %q", sent, target)
	}
	for _, name := range []string{"Authorization", "Cookie"} {
		if req.Header.Get(name) != "" {
			t.Fatalf("%q holds %s", sent, name)
		}
	}
}

// requestLen parses the messages of a SOCKS client like a server and returns
// the offset at which the request ends.
func requestLen(s string) int {
	at := func(i int) int {
		if i >= len(s) {
			return 0
		}
		return int(s[i])
	}
	if at(0) == 4 {
		n := 8 + strings.IndexByte(s[8:], 0) + 1
		if s[4:7] == "\x00\x00\x00" {
			n += strings.IndexByte(s[n:], 0) + 1
		}
		return n
	}
	n := 2 + at(1)
	if at(1) == 2 {
		n += 2 + at(n+1)
		n += 1 + at(n)
	}
	if len(s) <= n { // the client sent only a part of the handshake
		return n
	}
	switch at(n + 3) {
	case 1:
		return n + 10
	case 3:
		return n + 7 + at(n+4)
	}
	return n + 22
}

// FuzzReply checks that malformed replies cause neither a panic nor a read
// beyond the limits, and that errors contain no text from the proxy.
func FuzzReply(f *testing.F) {
	f.Add(wantsBasic + granted + "rest")
	f.Add("HTTP/1.1 407 No\r\nProxy-Authenticate: Digest realm=\"p\", nonce=\"n\", qop=\"auth\"\r\nContent-Length: 0\r\n\r\n")
	f.Add("\x05\x02\x01\x00\x05\x00\x00\x03\x01a\x00\x01rest")
	f.Add("\x00\x5a\x00\x00\x00\x00\x00\x00rest")
	f.Fuzz(func(t *testing.T, reply string) {
		for _, scheme := range proxySchemes {
			conn := &writeRecorder{reply: strings.NewReader(reply)}
			err := Connect(t.Context(), conn, scheme, "192.0.2.7:70", Options{Login: mary, Auth: httpauth.Any})
			if err == nil {
				continue
			}
			var refused *RefusedError
			var need *AuthRequiredError
			if !errors.As(err, &refused) && !errors.As(err, &need) && !errors.Is(err, ErrMalformed) &&
				!errors.Is(err, ErrTooLong) && !errors.Is(err, ErrClosed) {
				t.Fatalf("%s: error %v has no class", scheme, err)
			}
			if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Fatalf("%s: error %q", scheme, err)
			}
		}
	})
}
