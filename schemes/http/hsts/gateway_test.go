package hsts_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestGateway checks that a gateway cannot require https for the hosts whose URLs
// it retrieves.
func TestGateway(t *testing.T) {
	for _, c := range []struct {
		name    string
		gateway bool
		want    string
	}{
		{"server", false, "a.test \"20261126 12:01:00\"\n"},
		{"gateway", true, ""},
	} {
		s := newStore()
		open := func(fetch.Env) fetch.Driver {
			return fetch.DriverFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
				state := &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{}}}
				return &fetch.Response{TLS: state, Header: fetch.Header{{Name: "Strict-Transport-Security", Value: "max-age=60"}}, Body: http.NoBody}, nil
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
