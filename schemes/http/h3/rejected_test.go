package h3_test

import (
	"crypto/tls"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/h3"
)

// TestRejectedClient checks the error if a server rejects the client certificate.
// The server sends the alert when the handshake of the client is complete. Another
// attempt would fail too, so that the error must not be transient.
func TestRejectedClient(t *testing.T) {
	cert := peer.NewCert(t, peer.CertOptions{})
	for _, c := range []struct {
		name  string
		auth  tls.ClientAuthType
		certs []tls.Certificate
		alert string
	}{
		{"no certificate", tls.RequireAnyClientCert, nil, "certificate required"},
		{"unknown authority", tls.RequireAndVerifyClientCert, []tls.Certificate{cert.TLS}, "tls: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := &tls.Config{Certificates: []tls.Certificate{cert.TLS}, NextProtos: []string{"h3"}, ClientAuth: c.auth}
			l := serveQUIC(t, config, nil, answerHello)
			o := http.Options{HTTP3: h3.New(h3.Options{Mode: h3.Only})}
			client := fetch.New(fetch.Options{Policy: fetch.Typed(), TLS: &tls.Config{RootCAs: cert.Pool, Certificates: c.certs}}, http.Schemes(o)...)
			defer client.Close()
			for range 5 { // the alert arrives before or after the request is sent
				if _, err := client.Get(t.Context(), "https://"+l.Addr().String()+"/"); fetch.FaultOf(err) != fetch.TLS || !strings.Contains(err.Error(), c.alert) {
					t.Errorf("got %v, want a fault of TLS", err)
				}
			}
		})
	}
}
