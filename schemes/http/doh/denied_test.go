package doh_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/schemes/http/doh"
)

// TestDeniedServer checks that the error for a DNS server that the Policy denies,
// or whose certificate is not trusted, names a setting only if this setting permits
// the server.
func TestDeniedServer(t *testing.T) {
	rule, err := fetch.ParsePortRule("https:25")
	if err != nil {
		t.Fatal(err)
	}
	address, err := fetch.ParseAddressRule("169.254.169.254")
	if err != nil {
		t.Fatal(err)
	}
	policy := fetch.Typed()
	policy.Ports, policy.Addresses = append(policy.Ports, rule), append(policy.Addresses, address)
	unknown := httptest.NewTLSServer(http.NotFoundHandler())
	defer unknown.Close()
	for _, c := range []struct {
		name, url string
		policy    fetch.Policy
		fault     fetch.Fault
		setting   override.Kind
	}{
		{"port", "https://127.0.0.1:25/", fetch.Typed(), fetch.BadPort, override.Ports},
		{"port with a rule", "https://127.0.0.1:25/", policy, fetch.Connect, ""},
		{"metadata service", "https://169.254.169.254/", fetch.Typed(), fetch.BadAddress, ""},
		{"metadata service with a rule", "https://169.254.169.254/", policy, fetch.BadAddress, ""},
		{"unknown authority", unknown.URL, fetch.Typed(), fetch.TLS, doh.OverrideTLS},
	} {
		r, err := doh.New(doh.Options{URL: c.url, Policy: c.policy})
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.LookupNetIP(t.Context(), "ip4", "a.test")
		if fetch.FaultOf(err) != c.fault || override.Of(err).Kind != c.setting {
			t.Errorf("%s: got %v, which %q would permit", c.name, err, override.Of(err))
		}
		r.Close()
	}
}
