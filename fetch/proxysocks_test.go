package fetch_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// TestNegotiateOfSOCKS checks that a SOCKS proxy gets the login of its URL, and that
// no token is requested for it.
func TestNegotiateOfSOCKS(t *testing.T) {
	login := make(chan string, 1)
	dial := func(context.Context, string, netip.AddrPort) (net.Conn, error) {
		conn, server := net.Pipe()
		go func() {
			defer server.Close()
			defer close(login)
			head, answer := make([]byte, 2), make([]byte, len("\x01\x05alice\x06secret"))
			if _, err := io.ReadFull(server, head); err != nil {
				return
			}
			io.CopyN(io.Discard, server, int64(head[1]))
			server.Write([]byte{5, 2}) // requires a user name and a password (RFC 1929)
			n, _ := io.ReadFull(server, answer)
			login <- string(answer[:n])
		}()
		return conn, nil
	}
	via := fetch.Proxy{URL: uri.MustParse("socks5h://alice:secret@127.0.0.1:1080")}
	via.Negotiate = func(context.Context, func(context.Context, string) (net.Conn, error)) (string, error) {
		return "", errors.New("a token was requested")
	}
	o := fetch.Options{Policy: fetch.Typed(), Dial: dial, Proxy: func(fetch.Target) (fetch.Proxy, error) { return via, nil }}
	_, err := get(t, o, "raw://server.test/x")
	select {
	case got := <-login:
		if got != "\x01\x05alice\x06secret" {
			t.Errorf("the proxy got the login %q", got)
		}
	default:
		t.Errorf("the proxy got no login: %v", err)
	}
}
