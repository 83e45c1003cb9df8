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
	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/internal/savetest"
)

// TestBadProxies: what a proxy does wrong ends in a word about it, soon, and
// leaves nothing.
func TestBadProxies(t *testing.T) {
	const (
		plain, tunnel, ftp, gopher = "http://example.com/length", "https://example.com/length", "ftp://example.com/file", "gopher://example.com/9/file"

		atOnce, once, always = 0, delay, 7 * delay // before further attempts
		silence              = 30 * time.Second
	)
	x := strings.Repeat("x", 1<<20)
	says := func(replies ...string) func(net.Conn, *bufio.Reader) {
		return func(c net.Conn, r *bufio.Reader) {
			for _, text := range replies {
				r.ReadByte()
				r.Discard(r.Buffered())
				io.WriteString(c, text)
			}
		}
	}
	stalls := func(_ net.Conn, r *bufio.Reader) { io.Copy(io.Discard, r) }
	drips := func(c net.Conn, _ *bufio.Reader) {
		for {
			if _, err := io.WriteString(c, "H"); err != nil {
				return
			}
			<-time.After(7 * time.Second)
		}
	}
	for _, c := range []struct {
		name, url, proxy string
		answer           func(net.Conn, *bufio.Reader) // nil: nobody listens
		endsIn           fetch.Fault
		took             time.Duration
		dials            int
		text             string
	}{
		{"refuses", plain, httpProxy, nil, fetch.Connect, once, 2, "refused"},
		{"refuses a tunnel", tunnel, httpProxy, nil, fetch.Connect, once, 2, "refused"},
		{"refuses, socks", gopher, socksProxy, nil, fetch.Connect, once, 2, "refused"},
		{"stalls", plain, httpProxy, stalls, fetch.Timeout, 4*silence + always, 4, ""},
		{"stalls in a tunnel", tunnel, httpProxy, stalls, fetch.Timeout, 4*silence + always, 4, "proxy did not respond within 30s"},
		{"stalls, ftp", ftp, httpProxy, stalls, fetch.Timeout, 4*silence + always, 4, ""},
		{"stalls, socks", gopher, socksProxy, stalls, fetch.Timeout, 4*silence + always, 4, "proxy did not respond within 30s"},
		{"drips in a tunnel", tunnel, httpProxy, drips, fetch.Timeout, 4*silence + always, 4, "proxy did not respond within 30s"},
		{"closes", tunnel, httpProxy, says(""), fetch.Connect, always, 4, "proxy closed the connection"},
		{"closes, socks", gopher, socksProxy, says(""), fetch.Connect, always, 4, "proxy closed the connection"},
		{"forbids", tunnel, httpProxy, says("HTTP/1.1 403 No\r\n\r\n"), fetch.Connect, once, 2, "proxy rejected the request: http 403"},
		{"forbids, socks", gopher, socksProxy, says("\x05\x02", "\x01\x00", "\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00"), fetch.Connect, once, 2, "not allowed by its rules"},
		{"wants a login", plain, "http://proxy.example:3128", says("HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n"), fetch.Auth, atOnce, 1, "407"},
		{"wants a login for a tunnel", tunnel, "http://proxy.example:3128", says("HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=x\r\n\r\n"), fetch.Auth, atOnce, 1, "proxy requires a login"},
		{"wants a login, socks", gopher, "socks5h://proxy.example:1080", says("\x05\xff"), fetch.Auth, atOnce, 1, "proxy requires a login"},
		{"refuses the login", tunnel, httpProxy, says("HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=x\r\n\r\n"), fetch.Auth, atOnce, 1, "proxy rejected the credentials"},
		{"refuses the login, socks", gopher, socksProxy, says("\x05\x02", "\x01\x01"), fetch.Auth, atOnce, 1, "proxy rejected the credentials"},
		{"megabyte of a field", plain, httpProxy, says("HTTP/1.1 200 OK\r\nX: " + x + "\r\n\r\n"), fetch.TooLarge, atOnce, 1, ""},
		{"megabyte of a field, tunnel", tunnel, httpProxy, says("HTTP/1.1 200 OK\r\nX: " + x + "\r\n\r\n"), fetch.Protocol, atOnce, 1, "reply from the proxy is too long"},
		{"megabyte of fields", plain, httpProxy, says("HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 1<<18) + "\r\n"), fetch.TooLarge, atOnce, 1, ""},
		{"megabyte of fields, tunnel", tunnel, httpProxy, says("HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 1<<18) + "\r\n"), fetch.Protocol, atOnce, 1, "reply from the proxy is too long"},
		{"megabyte of a line, tunnel", tunnel, httpProxy, says("HTTP/1.1 200 " + x), fetch.Protocol, atOnce, 1, "reply from the proxy is too long"},
		{"control sequence", tunnel, httpProxy, says("HTTP/1.1 200 \x1b[31m\r\nX\x1b[31m: y\r\n\r\n"), fetch.Protocol, atOnce, 1, "malformed reply from the proxy"},
		{"another tongue", tunnel, httpProxy, says("220 hello\r\n\r\n"), fetch.Protocol, atOnce, 1, "malformed reply from the proxy"},
		{"another tongue, socks", gopher, socksProxy, says("HTTP/1.1 400 No\r\n\r\n"), fetch.Protocol, atOnce, 1, "malformed reply from the proxy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scenario{url: c.url, proxy: c.proxy, endsIn: c.endsIn}
				tr := &trial{scenario: s, attempts: 4, disk: &savetest.FS{}, conn: faultnet.Broken}
				tr.change = func(w *world, _ *fetch.Options) {
					for _, place := range []string{proxyAddr + ":3128", proxyAddr + ":1080"} {
						w.places[netip.MustParseAddrPort(place)] = nil
						if c.answer != nil {
							w.talk(place, c.answer)
						}
					}
				}
				o := tr.run(t)
				if fetch.FaultOf(o.err) != c.endsIn || !strings.Contains(o.err.Error(), c.text) || o.took != c.took || o.dials != c.dials {
					t.Errorf("%v after %v and %d dials, want %v, %q after %v and %d", o.err, o.took, o.dials, c.endsIn, c.text, c.took, c.dials)
				}
				tr.judgeFile(t, o)
				tr.judgeSecrets(t, o)
			})
		})
	}
}
