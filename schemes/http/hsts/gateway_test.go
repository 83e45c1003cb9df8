package hsts_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/anyurl/fetch/fetch"
	web "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/hsts"
	"github.com/anyurl/fetch/uri"
)

// TestGateway checks that a gateway does not set the hosts that require https. Its
// certificate was verified, but not those of the hosts.
func TestGateway(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Strict-Transport-Security", "max-age=1000")
	}))
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	var store hsts.Store
	secure := web.Gateway(web.Schemes(web.Options{})[1], uri.MustParse(s.URL))
	client := fetch.New(fetch.Options{Policy: fetch.Typed(), TLS: &tls.Config{RootCAs: roots}, Wrap: []fetch.Middleware{store.Middleware}}, secure)
	defer client.Close()
	resp, err := client.Get(t.Context(), "https://host.test/")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if store.Changed() {
		t.Error("a host was stored")
	}
}
