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
)

// publicNames resolves every name to a public address.
type publicNames struct{}

func (publicNames) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
}

// TestSocketPool checks that a URL from another server does not use an idle
// connection to the Unix domain socket.
func TestSocketPool(t *testing.T) {
	var mu sync.Mutex
	var got []string
	serve := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			got = append(got, name+" "+r.Host+r.URL.Path)
			mu.Unlock()
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
	path := filepath.Join(t.TempDir(), "socket")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	local := httptest.NewUnstartedServer(serve("socket"))
	local.Listener.Close()
	local.Listener = l
	local.Start()
	defer local.Close()
	network := httptest.NewServer(serve("network"))
	defer network.Close()
	dial := func(ctx context.Context, _ string, _ netip.AddrPort) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", network.Listener.Addr().String())
	}
	client := fetch.New(fetch.Options{Policy: fetch.Typed(), Socket: path, Dial: dial, Resolver: publicNames{}}, web.Schemes(web.Options{})...)
	defer client.Close()
	resp, err := client.Get(t.Context(), "http://service.test/first")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	want := []string{"socket service.test/first", "socket service.test/second", "network other.test/", "network service.test/secret"}
	if err != nil || string(body) != "network" || !slices.Equal(got, want) {
		t.Errorf("got %q, body %q, %v", got, body, err)
	}
}
