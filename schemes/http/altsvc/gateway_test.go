package altsvc_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestGateway checks that a gateway cannot name alternative services of the
// servers whose URLs it retrieves.
func TestGateway(t *testing.T) {
	for _, c := range []struct {
		name    string
		gateway bool
		want    string
	}{
		{"server", false, `h2 a.test 443 h3 b.test 443 "20261127 12:00:00" 0 0`},
		{"gateway", true, ""},
	} {
		s := newStore()
		open := func(fetch.Env) fetch.Driver {
			return fetch.DriverFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
				state := &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{}}}
				return &fetch.Response{TLS: state, Header: fetch.Header{{Name: "Alt-Svc", Value: `h3="b.test:443"`}}, Body: http.NoBody}, nil
			})
		}
		o := fetch.Options{Policy: fetch.Typed(), Wrap: []fetch.Middleware{s.Middleware}}
		client := fetch.New(o, fetch.Scheme{Name: "https", Port: 443, Gateway: c.gateway, Open: open})
		resp, err := client.Get(t.Context(), "https://a.test/")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		client.Close()
		if got := written(t, s); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
