package main

import (
	"crypto/tls"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/anyurl/fetch/internal/test/peer"
)

// TestPinnedNames checks which queries the server of --doh-url gets for a host whose
// address is on the command line, or to which a proxy connects. The only query for a
// known address is that for the keys of ECH.
func TestPinnedNames(t *testing.T) {
	cert := peer.NewCert(t, peer.CertOptions{Hosts: []string{"own.test", "127.0.0.1"}})
	site := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	site.TLS = &tls.Config{Certificates: []tls.Certificate{cert.TLS}}
	site.StartTLS()
	t.Cleanup(site.Close)
	var queries atomic.Int32
	dns := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := base64.RawURLEncoding.DecodeString(r.URL.Query().Get("dns"))
		var m dnsmessage.Message
		if err != nil || m.Unpack(b) != nil {
			return
		}
		queries.Add(1)
		m.Response = true
		b, _ = m.Pack()
		w.Header().Set("Content-Type", "application/dns-message")
		w.Write(b)
	}))
	t.Cleanup(dns.Close)
	port := portOf(site.Listener.Addr().String())
	fixed := "--noproxy * --resolve own.test:" + port + ":127.0.0.1 "
	for _, c := range []struct {
		name, args string
		code       int
		queries    int32
	}{
		{"--resolve", fixed, 0, 1},
		{"--resolve, HTTP/3", fixed + "--http3", 0, 1},
		{"--resolve of all ports", "--noproxy * --resolve own.test:*:127.0.0.1 --http3", 0, 1},
		{"--connect-to an address", "--noproxy * --connect-to own.test::127.0.0.1: --http3", 0, 1},
		{"--resolve, --ech false", fixed + "--http3 --ech false", 0, 0},
		{"--ech hard", fixed + "--ech hard", 5, 1},
		{"proxy of the new host", "--http3 -x http://127.0.0.1:1 --noproxy own.test --connect-to own.test::new.test:", 4, 0},
	} {
		queries.Store(0)
		args := append(strings.Fields(c.args), "--retry", "0", "--doh-url", dns.URL, "--doh-insecure", "https://own.test:"+port+"/")
		if code, _, messages := fetchHTTP3(cert, args...); code != c.code || queries.Load() != c.queries {
			t.Errorf("%s: exit code %d, %d queries: %s", c.name, code, queries.Load(), messages)
		}
	}
}
