package s3

import (
	"encoding/pem"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/storetest"
)

// TestConnection connects to a server with TLS through a proxy. The environment
// names the proxy and the trusted certificates.
func TestConnection(t *testing.T) {
	server, proxy := peer.Versitygw(t, "warcs"), peer.Tinyproxy(t, peer.ProxyOptions{Login: true})
	front := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.Out.URL.Scheme, p.Out.URL.Host = "http", server.Addr
		p.Out.Host = p.In.Host // the signature contains the host
	}})
	t.Cleanup(front.Close)
	certificate, empty := filepath.Join(t.TempDir(), "ca.pem"), filepath.Join(t.TempDir(), "empty.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
	for name, text := range map[string][]byte{certificate: text, empty: nil} {
		if err := os.WriteFile(name, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	login := "http://" + peer.User + ":" + peer.Password + "@"
	for _, test := range []struct {
		name, authorities, proxy, exempt string
		want                             fetch.Fault // or 0 for success
	}{
		{name: "unknown certificate", want: fetch.TLS},
		{name: "trusted certificate", authorities: certificate},
		{name: "proxy", authorities: certificate, proxy: login + proxy.Addr},
		{name: "proxy without a login", authorities: certificate, proxy: "http://" + proxy.Addr, want: fetch.Auth},
		{name: "exempt host", authorities: certificate, proxy: "http://" + proxy.Addr, exempt: "127.0.0.1"},
		{name: "file without certificates", authorities: empty, want: fetch.Usage},
		{name: "missing file", authorities: certificate + "x", want: fetch.Local},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			environment := map[string]string{"AWS_ACCESS_KEY_ID": peer.User, "AWS_SECRET_ACCESS_KEY": peer.Password,
				"AWS_CA_BUNDLE": test.authorities, "HTTPS_PROXY": test.proxy, "no_proxy": test.exempt}
			s, err := Open("s3://warcs?endpoint="+front.URL, func(name string) string { return environment[name] })
			if err == nil {
				err = storetest.Put(s, test.name, "text")
			}
			if test.want == 0 && err != nil || test.want != 0 && fetch.FaultOf(err) != test.want {
				t.Errorf("%v: %v, want %v", fetch.FaultOf(err), err, test.want)
			}
		})
	}
}
