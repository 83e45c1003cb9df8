package http_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/anyurl/fetch/fetch"
	web "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// publicNames resolves every name to a public address.
type publicNames struct{}

func (publicNames) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
}

// A socketServer has a Client that connects to a Unix domain socket or to a server
// on the network, and records the requests that each of them gets.
type socketServer struct {
	client *fetch.Client
	mu     sync.Mutex
	got    []string
}

func newSocketServer(t *testing.T) *socketServer {
	s := new(socketServer)
	path := filepath.Join(t.TempDir(), "socket")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	local := httptest.NewUnstartedServer(s.serve("socket"))
	local.Listener.Close()
	local.Listener = l
	local.Start()
	t.Cleanup(local.Close)
	network := httptest.NewServer(s.serve("network"))
	t.Cleanup(network.Close)
	dial := func(ctx context.Context, _ string, _ netip.AddrPort) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", network.Listener.Addr().String())
	}
	s.client = fetch.New(fetch.Options{Policy: fetch.Typed(), Socket: path, Dial: dial, Resolver: publicNames{}}, web.Schemes(web.Options{})...)
	t.Cleanup(func() { s.client.Close() })
	return s
}

func (s *socketServer) serve(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.got = append(s.got, name+" "+r.Host+r.URL.Path)
		s.mu.Unlock()
		switch r.Host + r.URL.Path {
		case "service.test/first":
			http.Redirect(w, r, "/second", http.StatusFound)
		case "service.test/second":
			http.Redirect(w, r, "http://other.test/", http.StatusFound)
		case "other.test/":
			http.Redirect(w, r, "http://service.test/secret", http.StatusFound)
		default:
			io.WriteString(w, name)
		}
	})
}

// TestSocketPool checks that a URL from another server does not use an idle
// connection to the Unix domain socket.
func TestSocketPool(t *testing.T) {
	s := newSocketServer(t)
	resp, err := s.client.Get(t.Context(), "http://service.test/first")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	want := []string{"socket service.test/first", "socket service.test/second", "network other.test/", "network service.test/secret"}
	if err != nil || string(body) != "network" || !slices.Equal(s.got, want) {
		t.Errorf("got %q, body %q, %v", s.got, body, err)
	}
}

// TestSocketLinks checks that links within the origin of a typed URL use the Unix
// domain socket, and that links within another origin do not.
func TestSocketLinks(t *testing.T) {
	s := newSocketServer(t)
	page, err := s.client.Get(t.Context(), "http://service.test/page")
	for _, link := range []string{"http://service.test/next", "http://other.test/page", "http://other.test/next", "http://service.test/back"} {
		if err != nil {
			t.Fatal(err)
		}
		page.Body.Close()
		page, err = s.client.Do(t.Context(), page.Request(uri.MustParse(link)))
	}
	if err != nil {
		t.Fatal(err)
	}
	page.Body.Close()
	for _, host := range []string{"service.test", "other.test"} { // as package mirror does
		from := &fetch.Source{URL: uri.MustParse("http://" + host + "/page"), Peer: netip.MustParseAddr("8.8.8.8")}
		page, err = s.client.Do(t.Context(), &fetch.Request{URL: uri.MustParse("http://" + host + "/stored"), From: from})
		if err != nil {
			t.Fatal(err)
		}
		page.Body.Close()
	}
	want := []string{"socket service.test/page", "socket service.test/next", "network other.test/page", "network other.test/next",
		"network service.test/back", "socket service.test/stored", "network other.test/stored"}
	if !slices.Equal(s.got, want) {
		t.Errorf("got %q", s.got)
	}
}
