package http

import (
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// TestOverrides checks the settings that errors about a login name.
func TestOverrides(t *testing.T) {
	for _, c := range []struct {
		code        int
		name, value string
		want        fetch.OverrideKind
	}{
		{401, "WWW-Authenticate", `Basic realm="x"`, fetch.OverrideLogin},
		{401, "WWW-Authenticate", `Digest realm="x", nonce="y"`, OverrideAuth},
		{401, "WWW-Authenticate", `Digest realm="x", nonce="y", Basic realm="x"`, fetch.OverrideLogin},
		{401, "X", "y", fetch.OverrideLogin},
		{407, "Proxy-Authenticate", `Digest realm="x", nonce="y"`, fetch.OverrideProxyAuth},
		{407, "Proxy-Authenticate", `Basic realm="x"`, fetch.OverrideProxyLogin},
		{403, "WWW-Authenticate", `Basic realm="x"`, ""},
	} {
		err := statusError(c.code, fetch.Header{{Name: c.name, Value: c.value}}, time.Time{})
		if got := fetch.OverrideOf(err).Kind; got != c.want {
			t.Errorf("%d %s: got %q, want %q", c.code, c.value, got, c.want)
		}
	}
}
