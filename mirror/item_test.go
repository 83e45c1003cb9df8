package mirror

import (
	"testing"

	"github.com/anyurl/fetch/uri"
)

// TestHostOf checks that all spellings of a host share one lease, so that a page
// cannot exceed the rate of requests with another spelling.
func TestHostOf(t *testing.T) {
	for url, want := range map[string]string{
		"http://A.Example/": "a.example", "https://a.example.:8443/x": "a.example", "gopher://a.example:7070/": "a.example",
		"ftp://user@[::1]/": "[::1]", "data:,x": "data:",
	} {
		if got := hostOf(uri.MustParse(url)); got != want {
			t.Errorf("%s: got %q, want %q", url, got, want)
		}
	}
}

// TestDomainOf checks that a dot at the end of a host does not change its domain.
func TestDomainOf(t *testing.T) {
	for url, want := range map[string]string{
		"http://www.a.co.uk/": "a.co.uk", "http://www.A.co.uk./": "a.co.uk", "http://127.0.0.1/": "127.0.0.1", "http://localhost./": "localhost",
	} {
		if got := domainOf(uri.MustParse(url)); got != want {
			t.Errorf("%s: got %q, want %q", url, got, want)
		}
	}
}
