package fetch

import (
	"errors"
	"fmt"

	"github.com/anyurl/fetch/internal/wire/proxy"
)

// refusesTunnels reports whether the HTTP proxy p has refused a tunnel for an http
// URL, so that it gets the names of servers.
func (d *dialer) refusesTunnels(p Proxy) bool {
	_, named := d.named.Load(p.URL.Unredacted())
	return named
}

// noteRefusal returns the error err of a tunnel. If the proxy refused the tunnel
// for an http URL, and may resolve names, noteRefusal remembers this and adds
// proxy.ErrNoTunnel to the error. A request in absolute form with an address would
// not do: a proxy replaces Host by it (RFC 9112 section 3.2.2), so that a server
// with several sites would send the page of another one.
func (d *dialer) noteRefusal(p Proxy, g *grant, err error) error {
	var refused *proxy.RefusedError
	if p.Tunnel || d.policy.reach != anywhere || !g.scheme.Traits.Web || g.scheme.Secure || !isHTTP(p.URL) || !errors.As(err, &refused) {
		return err
	}
	switch refused.Code {
	case 400, 403, 404, 405, 501:
		d.named.Store(p.URL.Unredacted(), true)
		return fmt.Errorf("%w (%w)", err, proxy.ErrNoTunnel)
	}
	return err
}
