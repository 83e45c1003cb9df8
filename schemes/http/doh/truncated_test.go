package doh_test

import (
	"crypto/tls"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http/doh"
)

// TestTruncatedServices checks that a truncated answer is an error. The name of the
// server would otherwise be sent in plaintext without a note.
func TestTruncatedServices(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m dnsmessage.Message
		b, _ := base64.RawURLEncoding.DecodeString(r.URL.Query().Get("dns"))
		if err := m.Unpack(b); err != nil {
			t.Error(err)
			return
		}
		m.Response, m.Truncated = true, true
		packed, err := m.Pack()
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/dns-message")
		w.Write(packed)
	}))
	defer s.Close()
	r, err := doh.New(doh.Options{URL: s.URL, TLS: &tls.Config{InsecureSkipVerify: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if all, err := r.Services(t.Context(), "host.test", 443); fetch.FaultOf(err) != fetch.DNS {
		t.Errorf("got %d services, %v, want an error", len(all), err)
	}
}
