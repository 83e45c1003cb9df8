package capture_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/anyurl/fetch/capture"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/mitm"
	fetchhttp "github.com/anyurl/fetch/schemes/http"
)

// A rebinding is a network in which a name has a public address at first, and
// another one later.
type rebinding struct {
	server string // address of the server behind all addresses

	mu     sync.Mutex
	now    netip.Addr
	dialed []netip.Addr
}

func (r *rebinding) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return []netip.Addr{r.now}, nil
}

func (r *rebinding) dial(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	r.mu.Lock()
	r.dialed = append(r.dialed, to.Addr())
	r.mu.Unlock()
	return new(net.Dialer).DialContext(ctx, network, r.server)
}

func (r *rebinding) set(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = netip.MustParseAddr(address)
}

// TestRebinding opens a page whose name gets another address after the page was
// loaded. The requests of the page do not reach private addresses.
func TestRebinding(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close") // the next request resolves the name again
		fmt.Fprint(w, "answer")
	}))
	defer server.Close()
	network := &rebinding{server: server.Listener.Addr().String()}
	client := fetch.New(fetch.Options{Resolver: network, Dial: network.dial}, fetchhttp.Schemes(fetchhttp.Options{})...)
	defer client.Close()
	p := startProxy(t, nil, func(h *capture.Handler, _ *mitm.Server) { h.Client, h.From = client, nil })
	browser := p.client(false)
	get := func() (int, string) {
		resp, err := browser.Get("http://rebind.example/data")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	network.set("8.8.8.8")
	if code, text := get(); code != 200 || text != "answer" {
		t.Fatalf("public address: %d %s", code, text)
	}
	for _, address := range []string{"127.0.0.1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "::1", "fd00::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"} {
		network.set(address)
		if code, text := get(); code != http.StatusForbidden || !strings.Contains(text, "denied by policy") {
			t.Errorf("%s: %d %s", address, code, text)
		}
	}
	network.set("8.8.8.8")
	if code, _ := get(); code != 200 {
		t.Errorf("public address again: %d", code)
	}
	if len(network.dialed) != 2 {
		t.Errorf("connections to %v", network.dialed)
	}
}
