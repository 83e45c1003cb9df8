package http

import (
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// TestRemedies: an error of a login names the options that give one.
func TestRemedies(t *testing.T) {
	for _, c := range []struct {
		code              int
		name, value, want string
	}{
		{401, "WWW-Authenticate", `Basic realm="x"`, fetch.LoginOption},
		{401, "WWW-Authenticate", `Digest realm="x", nonce="y"`, "--anyauth " + fetch.LoginOption},
		{401, "WWW-Authenticate", `Digest realm="x", nonce="y", Basic realm="x"`, fetch.LoginOption},
		{401, "X", "y", fetch.LoginOption},
		{407, "Proxy-Authenticate", `Digest realm="x", nonce="y"`, "--proxy-anyauth " + fetch.ProxyLoginOption},
		{407, "Proxy-Authenticate", `Basic realm="x"`, fetch.ProxyLoginOption},
		{403, "WWW-Authenticate", `Basic realm="x"`, ""},
	} {
		err := statusError(c.code, fetch.Header{{Name: c.name, Value: c.value}}, time.Time{})
		if got := fetch.RemedyOf(err); got != c.want {
			t.Errorf("%d %s: got %q, want %q", c.code, c.value, got, c.want)
		}
	}
}
