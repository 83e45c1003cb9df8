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

// publicAddr represents a server on the Internet. The dialer of the tests
// connects to loopback instead, so that no byte is sent to this address.
const publicAddr = "198.41.0.4"

// Door tests that connection pools and proxies do not bypass the Policy. The
// schemes are http and https.
func Door(t *testing.T, schemes func() []fetch.Scheme) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run("warm pool "+proto, func(t *testing.T) { warmPool(t, schemes, proto) })
	}
	t.Run("abandoned dial", func(t *testing.T) { abandonedDial(t, schemes) })
	t.Run("page behind a proxy", func(t *testing.T) { behindProxy(t, schemes) })
}

// inside is a server on loopback that only a typed URL may reach. It counts its
// requests.
type inside struct {
	*httptest.Server
	asked atomic.Int32
}

func newInside(t *testing.T, proto string) *inside {
	s := &inside{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
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

// url returns the URL of the server by a name that its certificate contains.
// The Policy can reject it only after the resolution of the name.
func (s *inside) url() string {
	scheme, _, _ := strings.Cut(s.URL, ":")
	return fmt.Sprintf("%s://example.com:%d/", scheme, s.Listener.Addr().(*net.TCPAddr).Port)
}

// newOutside starts a server whose only page redirects to target.
func newOutside(t *testing.T, target string) *httptest.Server {
	s := httptest.NewServer(http.RedirectHandler(target, http.StatusFound))
	t.Cleanup(s.Close)
	return s
}

// A world resolves names and connects publicAddr to a page.
type world struct {
	page  *httptest.Server
	names map[string]string
	hold  func(ctx context.Context, to netip.AddrPort) // before a dial; may be nil
}

func (w *world) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if a, ok := w.names[strings.TrimSuffix(host, ".")]; ok {
		return []netip.Addr{netip.MustParseAddr(a)}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

func (w *world) dial(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	if w.hold != nil {
		w.hold(ctx, to)
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

func (w *world) client(t *testing.T, schemes func() []fetch.Scheme, s *inside, proxy fetch.ProxyFunc) *fetch.Client {
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

func refuses(t *testing.T, s *inside, c *fetch.Client, url string) {
	t.Helper()
	before := s.asked.Load()
	got, err := read(t.Context(), c, url)
	if !errors.Is(err, fetch.BadAddress) {
		t.Errorf("got %q, %v, want BadAddress", got, err)
	}
	if n := s.asked.Load() - before; n != 0 {
		t.Errorf("the server inside received %d requests", n)
	}
}

// warmPool tests that a redirect from a public page does not reuse the pooled
// connection of a typed URL.
func warmPool(t *testing.T, schemes func() []fetch.Scheme, proto string) {
	s := newInside(t, proto)
	w := &world{page: newOutside(t, s.url()), names: map[string]string{"example.com": "127.0.0.1"}}
	c := w.client(t, schemes, s, nil)
	if got, err := read(t.Context(), c, s.url()); err != nil || !strings.HasPrefix(got, "secret") {
		t.Fatalf("typed: got %q, %v", got, err)
	}
	refuses(t, s, c, "http://"+publicAddr+"/")
	if _, err := read(t.Context(), c, s.url()); err != nil {
		t.Errorf("typed again: %v", err)
	}
}

// abandonedDial tests the connection of a canceled request. Package net/http
// completes the dial and puts the connection into its pool.
func abandonedDial(t *testing.T, schemes func() []fetch.Scheme) {
	s := newInside(t, "HTTP/1.1")
	dialling, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	w := &world{page: newOutside(t, s.url()), names: map[string]string{"example.com": "127.0.0.1"}}
	w.hold = func(_ context.Context, to netip.AddrPort) {
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
	refuses(t, s, c, "http://"+publicAddr+"/")
}

// behindProxy tests that a page from a proxy on loopback does not have the
// address of the proxy as its peer.
func behindProxy(t *testing.T, schemes func() []fetch.Scheme) {
	s := newInside(t, "HTTP/1.1")
	proxy := newOutside(t, s.url())
	w := &world{page: proxy, names: map[string]string{"example.com": "127.0.0.1"}}
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
	refuses(t, s, c, "http://page.example/")
}
