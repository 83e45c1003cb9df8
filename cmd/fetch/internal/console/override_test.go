package console

import (
	"testing"

	"github.com/anyurl/fetch/fetch/override"
)

func TestOverrideFlag(t *testing.T) {
	for _, c := range []struct {
		kind        override.Kind
		value, want string
	}{
		{override.Addresses, "169.254.169.254", "--allow-address 169.254.169.254"},
		{override.Ports, "http:25:any", "--allow-port http:25:any"},
		{override.Schemes, "ftp", "--proto +ftp"},
		{override.Redirects, "gopher", "--proto-redir +gopher"},
		{override.Downgrade, "", "--allow-downgrade"},
		{override.ProxyAuth, "", "--proxy-anyauth -U USER, which asks for the password"},
		{override.ProxyTLS, "", "--proxy-cacert FILE with the certificate of its issuer, or --proxy-insecure to skip verification (insecure)"},
		{override.Gateway, "urn", "--gateway urn=URL"},
		{"another.Options.Setting", "1", "another.Options.Setting 1"},
		{"", "", ""},
	} {
		if got := OverrideFlag(override.Setting{Kind: c.kind, Value: c.value}); got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.kind, c.value, got, c.want)
		}
	}
}
