package http

import (
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
)

// TestOverrides checks the settings that errors about a login name.
func TestOverrides(t *testing.T) {
	for _, c := range []struct {
		code        int
		name, value string
		want        override.Kind
	}{
		{401, "WWW-Authenticate", `Basic realm="x"`, override.Login},
		{401, "WWW-Authenticate", `Digest realm="x", nonce="y"`, OverrideAuth},
		{401, "WWW-Authenticate", `Digest realm="x", nonce="y", Basic realm="x"`, override.Login},
		{401, "X", "y", override.Login},
		{407, "Proxy-Authenticate", `Digest realm="x", nonce="y"`, override.ProxyAuth},
		{407, "Proxy-Authenticate", `Basic realm="x"`, override.ProxyLogin},
		{403, "WWW-Authenticate", `Basic realm="x"`, ""},
	} {
		err := statusError(c.code, fetch.Header{{Name: c.name, Value: c.value}}, time.Time{})
		if got := override.Of(err).Kind; got != c.want {
			t.Errorf("%d %s: got %q, want %q", c.code, c.value, got, c.want)
		}
	}
}
