package gateway

import (
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// nginxLocation is the configuration in doc/serving-safety.md.
const nginxLocation = `location /web/ {
	proxy_pass http://%s;
	proxy_set_header Host $http_host;
	proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
	proxy_buffering off;
}
`

// TestReverseProxy requests pages of a public server through nginx. It checks
// that nginx does not change URLs, and that the limits apply to each client.
func TestReverseProxy(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	t.Parallel()
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := newHandler(t, func(o *Options) {
		o.Address, o.Base, o.Hosts, o.Public, o.Client = l.Addr(), "/web", []string{"gateway.example"}, true, generous
		o.Client.Requests = 8
		o.ReverseProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	serve(t, h, l)
	nginx := peer.Nginx(t, peer.NginxOptions{Server: fmt.Sprintf(nginxLocation, l.Addr())})
	request := func(client, path string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+nginx.Addr, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.URL.Opaque, r.Host = path, "gateway.example"
		r.Header.Set("X-Forwarded-For", client)
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	for path, want := range map[string]string{
		"/web/": "sample.warc.gz", "/web" + root + "2024id_/http://a.example//double//slash": "double", "/web" + root + "2024/http://a.example/two?q=1": "query",
		"/web" + root + "2024/gopher://g.example/1/": "About", "/web" + root + "*/http://a.example/": "2026-01-01",
	} {
		if status, body := request("192.0.2.1", path); status != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d: %s", path, status, body)
		}
	}
	// nginx adds its own client, 127.0.0.1, which is a reverse proxy too.
	status := http.StatusOK
	for n := 0; n < 1000 && status == http.StatusOK; n++ {
		status, _ = request("192.0.2.1", "/web/")
	}
	if status != http.StatusTooManyRequests {
		t.Errorf("many requests of a client: %d", status)
	}
	if status, _ := request("192.0.2.2", "/web/"); status != 200 {
		t.Errorf("another client: %d", status)
	}
}
