package fetch

import (
	"errors"
	"testing"

	"github.com/anyurl/fetch/internal/httpauth"
	"github.com/anyurl/fetch/internal/proxy"
)

// TestProxyRemedy: a proxy that wants a login, and the option that gives one.
func TestProxyRemedy(t *testing.T) {
	basic, digest := httpauth.Challenge{Scheme: "basic"}, httpauth.Challenge{Scheme: "digest"}
	for _, c := range []struct {
		challenges []httpauth.Challenge
		want       string
	}{
		{nil, ProxyLoginOption},
		{[]httpauth.Challenge{digest, basic}, ProxyLoginOption},
		{[]httpauth.Challenge{digest}, "--proxy-anyauth " + ProxyLoginOption},
	} {
		err := proxyFault(&proxy.AuthRequired{Challenges: c.challenges})
		if !errors.Is(err, Auth) || RemedyOf(err) != c.want {
			t.Errorf("%v: got %v, %q", c.challenges, err, RemedyOf(err))
		}
	}
}
