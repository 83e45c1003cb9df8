package fetch

import (
	"errors"
	"testing"

	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/internal/wire/httpauth"
	"github.com/anyurl/fetch/internal/wire/proxy"
)

// TestProxyOverride checks the settings that answer the challenges of a proxy.
func TestProxyOverride(t *testing.T) {
	basic, digest := httpauth.Challenge{Scheme: "basic"}, httpauth.Challenge{Scheme: "digest"}
	for _, c := range []struct {
		challenges []httpauth.Challenge
		want       override.Kind
	}{
		{nil, override.ProxyLogin},
		{[]httpauth.Challenge{digest, basic}, override.ProxyLogin},
		{[]httpauth.Challenge{digest}, override.ProxyAuth},
	} {
		err := proxyFault(&proxy.AuthRequiredError{Challenges: c.challenges})
		if !errors.Is(err, Auth) || override.Of(err).Kind != c.want {
			t.Errorf("%v: got %v, %q", c.challenges, err, override.Of(err))
		}
	}
}
