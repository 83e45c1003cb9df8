package fetch

import (
	"context"
	"net"
	"testing"

	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/wire/datagram"
)

// TestConfiguredAlternative checks that a server of the configuration, such as a
// KDC, does not become permitted because a response names it as an alternative
// service.
func TestConfiguredAlternative(t *testing.T) {
	const kdc = "10.0.0.1:1088"
	for _, c := range []struct {
		name, network string
		alternative   bool
		want          Fault // 0 if a connection is opened
	}{
		{"configured", "tcp", false, 0},
		{"alternative", "udp", true, BadAddress},
	} {
		r := &recorder{}
		d := newDialer(&Policy{reach: anywhere}, Options{Dial: r.dial})
		s := &Scheme{Name: "https", Port: 443, Trust: []string{kdc}, Ports: scheme.Ports{Class: scheme.WebPorts}, Traits: scheme.Traits{Web: true}}
		g := &grant{scheme: s, typed: true, target: Target{Scheme: "https", Host: "a.test", Port: 443}}
		ctx := context.WithValue(t.Context(), grantKey{}, g)
		if c.alternative {
			ctx = datagram.With(ctx, func(_ context.Context, socket net.Conn) (net.Conn, error) { return socket, nil })
		}
		conn, err := d.DialContext(ctx, c.network, kdc)
		if err == nil {
			conn.Close()
		}
		if (err != nil || c.want != 0) && FaultOf(err) != c.want {
			t.Errorf("%s: got %v, dialed %q", c.name, err, r.addresses())
		}
	}
}
