package fetchtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// publicAddr is a public IP address that the tests use for a server. The dialer
// of the tests connects to loopback instead, so that no byte is sent to this
// address.
const publicAddr = "198.41.0.4"

// RunPolicy tests that connection pools and proxies of the http and https
// drivers do not bypass the Policy. The function schemes returns both schemes.
func RunPolicy(t *testing.T, schemes func() []fetch.Scheme) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run("pooled connection "+proto, func(t *testing.T) { pooledConnection(t, schemes, proto) })
	}
	t.Run("abandoned dial", func(t *testing.T) { abandonedDial(t, schemes) })
	t.Run("page behind a proxy", func(t *testing.T) { behindProxy(t, schemes) })
}

// A privateServer is a server on loopback that counts its requests. The Policy
// allows access to the server only if the user entered the URL.
type privateServer struct {
	*httptest.Server
	requests atomic.Int32
}

func newPrivateServer(t *testing.T, proto string) *privateServer {
	s := &privateServer{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		if r.Proto != proto {
			t.Errorf("got a request over %s, want %s", r.Proto, proto)
		}
		io.WriteString(w, "secret of "+r.Host)
	}))
	if proto == "HTTP/2.0" {
		s.EnableHTTP2 = true
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// url returns a URL of the private server with a public host name. The Policy
// can reject the URL only after the name was resolved.
func (s *privateServer) url() string {
	scheme, _, _ := strings.Cut(s.URL, ":")
	return fmt.Sprintf("%s://example.com:%d/", scheme, s.Listener.Addr().(*net.TCPAddr).Port)
}

// newRedirector starts a server that redirects every request to target.
func newRedirector(t *testing.T, target string) *httptest.Server {
	s := httptest.NewServer(http.RedirectHandler(target, http.StatusFound))
	t.Cleanup(s.Close)
	return s
}

// A testNetwork resolves host names from a table. Connections to publicAddr
// reach the test server in the field page.
type testNetwork struct {
	page       *httptest.Server
	names      map[string]string
	beforeDial func(ctx context.Context, to netip.AddrPort) // called before each dial; may be nil
}

func (w *testNetwork) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if a, ok := w.names[strings.TrimSuffix(host, ".")]; ok {
		return []netip.Addr{netip.MustParseAddr(a)}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

func (w *testNetwork) dial(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	if w.beforeDial != nil {
		w.beforeDial(ctx, to)
	}
	address := to.String()
	if to.Addr().String() == publicAddr {
		address = w.page.Listener.Addr().String()
	}
	if !strings.HasPrefix(address, "127.0.0.1:") && !strings.HasPrefix(address, "[::1]:") {
		return nil, fmt.Errorf("the test would have dialed %s", address)
	}
	return (&net.Dialer{}).DialContext(context.WithoutCancel(ctx), network, address)
}

func (w *testNetwork) client(t *testing.T, schemes func() []fetch.Scheme, s *privateServer, proxy fetch.ProxyFunc) *fetch.Client {
	opts := fetch.Options{Policy: fetch.Typed(), Resolver: w, Dial: w.dial, Proxy: proxy}
	opts.Policy.Ports = []fetch.PortRule{{Port: uint16(s.Listener.Addr().(*net.TCPAddr).Port), Any: true}}
	if s.TLS != nil {
		roots := x509.NewCertPool()
		roots.AddCert(s.Certificate())
		opts.TLS = &tls.Config{RootCAs: roots}
	}
	c := fetch.New(opts, schemes()...)
	t.Cleanup(func() { c.Close() })
	return c
}

func read(ctx context.Context, c *fetch.Client, url string) (string, error) {
	resp, err := c.Get(ctx, url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func checkRejected(t *testing.T, s *privateServer, c *fetch.Client, url string) {
	t.Helper()
	before := s.requests.Load()
	got, err := read(t.Context(), c, url)
	if !errors.Is(err, fetch.BadAddress) {
		t.Errorf("got %q, %v, want BadAddress", got, err)
	}
	if n := s.requests.Load() - before; n != 0 {
		t.Errorf("the private server received %d requests", n)
	}
}

// pooledConnection tests that a redirect from a public page does not reuse a
// connection that was pooled for a URL that the user entered.
func pooledConnection(t *testing.T, schemes func() []fetch.Scheme, proto string) {
	s := newPrivateServer(t, proto)
	w := &testNetwork{page: newRedirector(t, s.url()), names: map[string]string{"example.com": "127.0.0.1"}}
	c := w.client(t, schemes, s, nil)
	if got, err := read(t.Context(), c, s.url()); err != nil || !strings.HasPrefix(got, "secret") {
		t.Fatalf("entered URL: got %q, %v", got, err)
	}
	checkRejected(t, s, c, "http://"+publicAddr+"/")
	if _, err := read(t.Context(), c, s.url()); err != nil {
		t.Errorf("entered URL, second request: %v", err)
	}
}

// abandonedDial tests that the connection of a canceled request is not reused
// by another request. Package net/http completes the dial and pools the
// connection.
func abandonedDial(t *testing.T, schemes func() []fetch.Scheme) {
	s := newPrivateServer(t, "HTTP/1.1")
	dialling, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	w := &testNetwork{page: newRedirector(t, s.url()), names: map[string]string{"example.com": "127.0.0.1"}}
	w.beforeDial = func(_ context.Context, to netip.AddrPort) {
		if to.Addr().IsLoopback() {
			once.Do(func() { close(dialling); <-release })
		}
	}
	c := w.client(t, schemes, s, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := read(ctx, c, s.url())
		done <- err
	}()
	<-dialling
	cancel()
	close(release)
	if err := <-done; !errors.Is(err, fetch.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
	checkRejected(t, s, c, "http://"+publicAddr+"/")
}

// behindProxy tests that the Policy does not treat a page as local only because
// it was retrieved through a proxy on loopback.
func behindProxy(t *testing.T, schemes func() []fetch.Scheme) {
	s := newPrivateServer(t, "HTTP/1.1")
	proxy := newRedirector(t, s.url())
	w := &testNetwork{page: proxy, names: map[string]string{"example.com": "127.0.0.1"}}
	through := func(target fetch.Target) (fetch.Proxy, error) {
		if target.Host == "example.com" {
			return fetch.Proxy{}, nil
		}
		return fetch.Proxy{URL: uri.MustParse(proxy.URL)}, nil
	}
	c := w.client(t, schemes, s, through)
	resp, err := c.Do(t.Context(), &fetch.Request{URL: uri.MustParse("http://page.example/"), NoFollow: true})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.Peer.IsValid() || resp.Location.IsZero() {
		t.Errorf("peer %v, location %v, want no peer and a redirect", resp.Peer, resp.Location)
	}
	checkRejected(t, s, c, "http://page.example/")
}
