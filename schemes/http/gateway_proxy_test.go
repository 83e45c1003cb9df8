package http_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// TestProxyGateway checks that a proxy to which ftp URLs are sent is verified
// and gets credentials as for http URLs, and that no gateway gets the client
// certificate for servers.
func TestProxyGateway(t *testing.T) {
	var requests []string
	server := httptest.NewUnstartedServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		text := r.RequestURI
		for _, name := range []string{"Proxy-Authorization", "X-Proxy"} {
			if value, _, _ := strings.Cut(r.Header.Get(name), " "); value != "" {
				text += " " + value
			}
		}
		if len(r.TLS.PeerCertificates) > 0 {
			text += " certificate"
		}
		requests = append(requests, text)
		if strings.Contains(text, "/digest") && !strings.Contains(text, "Digest") {
			w.Header().Set("Proxy-Authenticate", `Digest realm="r", nonce="n", qop="auth"`)
			w.WriteHeader(nethttp.StatusProxyAuthRequired)
		}
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	trusted := &tls.Config{RootCAs: roots, ServerName: "example.com"}
	insecure := &tls.Config{InsecureSkipVerify: true, Certificates: server.TLS.Certificates}
	via := uri.MustParse(strings.Replace(server.URL, "//", "//al:pw@", 1))
	ftp := fetch.Scheme{Name: "ftp", Port: 21, Ports: scheme.Ports{Class: scheme.TextPorts}}
	negotiate := func(context.Context, func(context.Context, string) (net.Conn, error)) (string, error) {
		return "t0ken", nil
	}
	for _, test := range []struct {
		name    string
		servers *tls.Config
		proxy   fetch.Proxy
		url     string
		want    string // requests
		fault   fetch.Fault
	}{
		{"not verified", insecure, fetch.Proxy{TLS: &tls.Config{}}, "ftp://127.0.0.1/a", "", fetch.TLS},
		{"verified", insecure, fetch.Proxy{TLS: trusted}, "ftp://127.0.0.1/a", "ftp://127.0.0.1/a Basic", 0},
		{"header", insecure, fetch.Proxy{TLS: trusted, Header: fields("X-Proxy", "x")}, "ftp://127.0.0.1/a", "ftp://127.0.0.1/a Basic x", 0},
		{"digest", insecure, fetch.Proxy{TLS: trusted, Auth: fetch.ProxyDigest}, "ftp://127.0.0.1/digest",
			"ftp://127.0.0.1/digest,ftp://127.0.0.1/digest Digest", 0},
		{"negotiate", insecure, fetch.Proxy{TLS: trusted, Negotiate: negotiate}, "ftp://127.0.0.1/a", "", fetch.Unsupported},
		{"gateway", insecure, fetch.Proxy{}, "ftp://127.0.0.1/a", "ftp://127.0.0.1/a Basic", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			requests = nil
			o := fetch.Options{Policy: fetch.Typed(), TLS: test.servers}
			s := http.Gateway(ftp, via)
			if test.name != "gateway" {
				test.proxy.URL = via
				o.Proxy = func(fetch.Target) (fetch.Proxy, error) { return test.proxy, nil }
				s = http.ProxyGateway(ftp, test.proxy)
			}
			client := fetch.New(o, s)
			defer client.Close()
			_, _, err := get(t, client, newRequest(test.url))
			if test.fault == 0 && err != nil || test.fault != 0 && !errors.Is(err, test.fault) {
				t.Errorf("got %v", err)
			}
			if got := strings.Join(requests, ","); got != test.want {
				t.Errorf("the proxy received %q, want %q", got, test.want)
			}
		})
	}
}
