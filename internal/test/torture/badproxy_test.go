package torture

import (
	"bufio"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/savetest"
)

// TestBadProxies checks the error, the time and the files of transfers through
// a proxy that violates its protocol.
func TestBadProxies(t *testing.T) {
	const (
		plain, tunnel, ftp, gopher = "http://example.com/length", "https://example.com/length", "ftp://example.com/file", "gopher://example.com/9/file"

		atOnce, once, always = 0, delay, 7 * delay // total delay before further attempts
		silence              = 30 * time.Second
	)
	x := strings.Repeat("x", 1<<20)
	replies := func(texts ...string) func(net.Conn, *bufio.Reader) {
		return func(c net.Conn, r *bufio.Reader) {
			for _, text := range texts {
				r.ReadByte()
				r.Discard(r.Buffered())
				io.WriteString(c, text)
			}
		}
	}
	stall := func(_ net.Conn, r *bufio.Reader) { io.Copy(io.Discard, r) }
	drip := func(c net.Conn, _ *bufio.Reader) {
		for {
			if _, err := io.WriteString(c, "H"); err != nil {
				return
			}
			<-time.After(7 * time.Second)
		}
	}
	for _, c := range []struct {
		name, url, proxy string
		answer           func(net.Conn, *bufio.Reader) // nil if the proxy refuses connections
		endsIn           fetch.Fault
		took             time.Duration
		dials            int
		text             string
	}{
		{"connection refused", plain, httpProxy, nil, fetch.Connect, once, 2, "refused"},
		{"connection refused, tunnel", tunnel, httpProxy, nil, fetch.Connect, once, 2, "refused"},
		{"connection refused, socks", gopher, socksProxy, nil, fetch.Connect, once, 2, "refused"},
		{"no reply", plain, httpProxy, stall, fetch.Timeout, 4*silence + always, 4, ""},
		{"no reply in a tunnel", tunnel, httpProxy, stall, fetch.Timeout, 4*silence + always, 4, "proxy did not respond within 30s"},
		{"no reply, ftp", ftp, httpProxy, stall, fetch.Timeout, 4*silence + always, 4, ""},
		{"no reply, socks", gopher, socksProxy, stall, fetch.Timeout, 4*silence + always, 4, "proxy did not respond within 30s"},
		{"slow reply in a tunnel", tunnel, httpProxy, drip, fetch.Timeout, 4*silence + always, 4, "proxy did not respond within 30s"},
		{"connection closed", tunnel, httpProxy, replies(""), fetch.Connect, always, 4, "proxy closed the connection"},
		{"connection closed, socks", gopher, socksProxy, replies(""), fetch.Connect, always, 4, "proxy closed the connection"},
		{"request rejected", tunnel, httpProxy, replies("HTTP/1.1 403 No\r\n\r\n"), fetch.Connect, once, 2, "proxy rejected the request: http 403"},
		{"request rejected, socks", gopher, socksProxy, replies("\x05\x02", "\x01\x00", "\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00"), fetch.Connect, once, 2, "not allowed by its rules"},
		{"login required", plain, "http://proxy.example:3128", replies("HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n"), fetch.Auth, atOnce, 1, "407"},
		{"login required for a tunnel", tunnel, "http://proxy.example:3128", replies("HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=x\r\n\r\n"), fetch.Auth, atOnce, 1, "proxy requires a login"},
		{"login required, socks", gopher, "socks5h://proxy.example:1080", replies("\x05\xff"), fetch.Auth, atOnce, 1, "proxy requires a login"},
		{"login rejected", tunnel, httpProxy, replies("HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=x\r\n\r\n"), fetch.Auth, atOnce, 1, "proxy rejected the credentials"},
		{"login rejected, socks", gopher, socksProxy, replies("\x05\x02", "\x01\x01"), fetch.Auth, atOnce, 1, "proxy rejected the credentials"},
		{"field of a megabyte", plain, httpProxy, replies("HTTP/1.1 200 OK\r\nX: " + x + "\r\n\r\n"), fetch.TooLarge, atOnce, 1, ""},
		{"field of a megabyte, tunnel", tunnel, httpProxy, replies("HTTP/1.1 200 OK\r\nX: " + x + "\r\n\r\n"), fetch.Protocol, atOnce, 1, "reply from the proxy is too long"},
		{"megabyte of fields", plain, httpProxy, replies("HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 1<<18) + "\r\n"), fetch.TooLarge, atOnce, 1, ""},
		{"megabyte of fields, tunnel", tunnel, httpProxy, replies("HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 1<<18) + "\r\n"), fetch.Protocol, atOnce, 1, "reply from the proxy is too long"},
		{"line of a megabyte, tunnel", tunnel, httpProxy, replies("HTTP/1.1 200 " + x), fetch.Protocol, atOnce, 1, "reply from the proxy is too long"},
		{"control sequence", tunnel, httpProxy, replies("HTTP/1.1 200 \x1b[31m\r\nX\x1b[31m: y\r\n\r\n"), fetch.Protocol, atOnce, 1, "malformed reply from the proxy"},
		{"reply of another protocol", tunnel, httpProxy, replies("220 hello\r\n\r\n"), fetch.Protocol, atOnce, 1, "malformed reply from the proxy"},
		{"reply of another protocol, socks", gopher, socksProxy, replies("HTTP/1.1 400 No\r\n\r\n"), fetch.Protocol, atOnce, 1, "malformed reply from the proxy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scenario{url: c.url, proxy: c.proxy, endsIn: c.endsIn}
				tr := &trial{scenario: s, attempts: 4, disk: &savetest.FS{}, conn: faultnet.Broken}
				tr.change = func(w *world, _ *fetch.Options) {
					for _, addr := range []string{proxyAddr + ":3128", proxyAddr + ":1080"} {
						w.listeners[netip.MustParseAddrPort(addr)] = nil
						if c.answer != nil {
							w.serveConns(addr, c.answer)
						}
					}
				}
				o := tr.run(t)
				if fetch.FaultOf(o.err) != c.endsIn || !strings.Contains(o.err.Error(), c.text) || o.took != c.took || o.dials != c.dials {
					t.Errorf("%v after %v and %d dials, want %v, %q after %v and %d", o.err, o.took, o.dials, c.endsIn, c.text, c.took, c.dials)
				}
				tr.checkFile(t, o)
				tr.checkSecrets(t, o)
			})
		})
	}
}
