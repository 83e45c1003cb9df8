package gateway

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// generous permits all requests of a test.
var generous = ClientLimits{Requests: 1 << 20, Running: 1 << 10, Connections: 1 << 10, Bytes: 1 << 30}

// TestPublicOptions checks which listeners and limits a Handler accepts.
func TestPublicOptions(t *testing.T) {
	loopback, other := testAddress, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 8700}
	proxies := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	for name, c := range map[string]struct {
		opts Options
		ok   bool
	}{
		"loopback":                  {Options{Address: loopback}, true},
		"loopback, public":          {Options{Address: loopback, Public: true}, true},
		"other address":             {Options{Address: other}, false},
		"other address, public":     {Options{Address: other, Public: true}, true},
		"all addresses":             {Options{Address: &net.TCPAddr{Port: 8700}}, false},
		"all addresses, public":     {Options{Address: &net.TCPAddr{Port: 8700}, Public: true}, true},
		"negative limit":            {Options{Address: loopback, Public: true, Client: ClientLimits{Bytes: -1}}, false},
		"reverse proxy":             {Options{Address: loopback, ReverseProxies: proxies}, false},
		"reverse proxy, public":     {Options{Address: loopback, Public: true, ReverseProxies: proxies}, true},
		"Unix socket":               {Options{Address: &net.UnixAddr{Name: "/tmp/x", Net: "unix"}}, false},
		"loopback with other hosts": {Options{Address: loopback, Hosts: []string{"gateway.example"}}, true},
	} {
		if _, err := New(c.opts); (err == nil) != c.ok || err != nil && fetch.FaultOf(err) != fetch.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, address := range []string{"example.org:0", "8700", "127.1:0", "[::1]"} {
		if l, err := ListenPublic(address); fetch.FaultOf(err) != fetch.Usage {
			t.Errorf("listen on %s: %v, %v", address, l, err)
		}
	}
}

// TestClientOf checks from which field the address of a client comes.
func TestClientOf(t *testing.T) {
	p := &public{proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("2001:db8:1::/48")}}
	for name, c := range map[string]struct{ remote, forwarded, want string }{
		"no proxy":                    {"192.0.2.1:1000", "", "192.0.2.1"},
		"field of a client":           {"192.0.2.1:1000", "192.0.2.9", "192.0.2.1"},
		"proxy":                       {"127.0.0.1:1000", "192.0.2.9", "192.0.2.9"},
		"proxy on a mapped address":   {"[::ffff:127.0.0.1]:1000", "192.0.2.9", "192.0.2.9"},
		"proxy without the field":     {"127.0.0.1:1000", "", "127.0.0.1"},
		"invented first entry":        {"127.0.0.1:1000", "198.51.100.1, 192.0.2.9", "192.0.2.9"},
		"two proxies":                 {"127.0.0.1:1000", "198.51.100.1,192.0.2.9 , 2001:db8:1::7", "192.0.2.9"},
		"only proxies":                {"127.0.0.1:1000", "2001:db8:1::7", "2001:db8:1::7"},
		"invented name of a proxy":    {"127.0.0.1:1000", "127.0.0.1, 192.0.2.9", "192.0.2.9"},
		"no address":                  {"127.0.0.1:1000", "192.0.2.9, unknown", "127.0.0.1"},
		"another address of loopback": {"127.0.0.2:1000", "192.0.2.9", "127.0.0.2"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.remote
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		if got := p.clientOf(r).Unmap().String(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestPublicRequests checks the limit of requests for each client.
func TestPublicRequests(t *testing.T) {
	h := newHandler(t, func(o *Options) {
		o.Public, o.Client = true, generous
		o.Client.Requests = 3
		o.ReverseProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")} // the client of httptest
	})
	ask := func(client string) *httptest.ResponseRecorder { return get(h, "GET", "/", "X-Forwarded-For: "+client) }
	for range 3 {
		if w := ask("198.51.100.1"); w.Code != 200 || w.Header().Get("X-Robots-Tag") != "noindex, nofollow" {
			t.Fatalf("%d %v", w.Code, w.Header())
		}
	}
	if w := ask("198.51.100.1"); w.Code != 429 || w.Header().Get("Retry-After") != "10" || !strings.Contains(w.Body.String(), "</html>") {
		t.Errorf("fourth request: %d %v", w.Code, w.Header())
	}
	if w := ask("198.51.100.2"); w.Code != 200 {
		t.Errorf("another client: %d", w.Code)
	}
	if w := get(newHandler(t, nil), "GET", "/robots.txt"); w.Body.String() != "User-agent: *\nDisallow: /\n" {
		t.Errorf("robots.txt: %d %s", w.Code, w.Body)
	}
}

// TestPublicRate checks that a response is slowed down to the rate of its client
// and is complete.
func TestPublicRate(t *testing.T) {
	const size = 300_000
	archive := openSample(t, sample{"20240101", "http://a.example/large", "", ok("application/octet-stream", strings.Repeat("x", size))})
	synctest.Test(t, func(t *testing.T) {
		h := newHandler(t, func(o *Options) {
			o.Archives[0].Source = archive
			o.Public, o.Client = true, generous
			o.Client.Bytes = 1000 // 60,000 bytes at once
		})
		begin := time.Now()
		w := get(h, "GET", root+"2024id_/http://a.example/large")
		if took := time.Since(begin).Round(time.Second); w.Body.Len() != size || took != 240*time.Second {
			t.Errorf("%d bytes in %v", w.Body.Len(), took)
		}
		begin = time.Now() // the bytes before a range count too
		w = get(h, "GET", root+"2024id_/http://a.example/large", "Range: bytes=-1")
		if took := time.Since(begin).Round(time.Second); w.Body.Len() != 1 || took != 300*time.Second {
			t.Errorf("range: %d bytes in %v", w.Body.Len(), took)
		}
	})
}

// TestPublicConnections opens connections to a public server on all addresses
// from two clients on loopback. It checks the limit for each client, and which
// hosts are permitted.
func TestPublicConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	t.Parallel()
	l, err := ListenPublic("0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	h := newHandler(t, func(o *Options) {
		o.Address, o.Public, o.Client = l.Addr(), true, generous
		o.Client.Connections = 2
	})
	serve(t, h, l)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	connect := func(from, to string) net.Conn {
		t.Helper()
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: time.Minute}
		c, err := d.DialContext(t.Context(), "tcp", net.JoinHostPort(to, port))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	// ask returns the status of a request, or 0 if the server closed the connection.
	ask := func(c net.Conn, host string) int {
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return 0
		}
		defer resp.Body.Close()
		io.Copy(io.Discard, resp.Body)
		return resp.StatusCode
	}
	for host, want := range map[string]int{
		"127.0.0.2:" + port: 200, "localhost:" + port: 200, "127.0.0.3:" + port: 403, "127.0.0.2": 403,
		"evil.example:" + port: 403,
	} {
		c := connect("127.0.0.9", "127.0.0.2")
		if got := ask(c, host); got != want {
			t.Errorf("Host %s: %d, want %d", host, got, want)
		}
		c.Close()
		waitUntil(t, func() bool { return len(h.public.slots) == 0 })
	}
	first, second := connect("127.0.0.5", "127.0.0.2"), connect("127.0.0.5", "127.0.0.3")
	if a, b := ask(first, "localhost:"+port), ask(second, "localhost:"+port); a != 200 || b != 200 {
		t.Errorf("permitted connections: %d, %d", a, b)
	}
	if got := ask(connect("127.0.0.5", "127.0.0.2"), "localhost:"+port); got != 0 {
		t.Errorf("third connection: %d", got)
	}
	if got := ask(connect("127.0.0.6", "127.0.0.2"), "localhost:"+port); got != 200 {
		t.Errorf("another client: %d", got)
	}
	first.Close()
	waitUntil(t, func() bool { return len(h.public.slots) == 2 })
	if got := ask(connect("127.0.0.5", "127.0.0.2"), "localhost:"+port); got != 200 {
		t.Errorf("after a connection was closed: %d", got)
	}
}

// waitUntil waits until a condition that another goroutine establishes is true.
func waitUntil(t *testing.T, condition func() bool) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("the condition is not true after a minute")
		}
	}
}

// TestPublicDenied checks that a public server offers no form for a private
// address, because no client can permit it.
func TestPublicDenied(t *testing.T) {
	h, n := newIsolated(t, func(o *Options) { o.Public, o.Live.Schemes = true, []string{"gopher"} })
	for _, c := range []struct {
		name, target string
		form         bool
	}{
		{"private address", "/live/gopher://10.1.2.3/", false},
		{"name of a private address", "/live/gopher://private.example/", false},
		{"denied port", "/live/gopher://public.example:25/", true},
	} {
		w := get(h, "GET", c.target, "Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
		if got := strings.Contains(w.Body.String(), "as if you had entered it"); w.Code != 403 || got != c.form {
			t.Errorf("%s: status %d, form %v", c.name, w.Code, got)
		}
	}
	if dialed := n.take(); len(dialed) > 0 {
		t.Errorf("connections to %q", dialed)
	}
}
