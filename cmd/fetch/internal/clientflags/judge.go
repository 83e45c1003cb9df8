package clientflags

import (
	"context"
	"net"
	"net/netip"
	"os"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
)

// errConnect is the error of a connection that the Client of OpenJudge would
// open.
var errConnect = fetch.Connect.Errorf("the client opens no connections")

// OpenJudge returns a Client with the policy, the names and the routes of the
// flags, which opens no connection to a server. The error of its requests is a
// *fetch.Refusal if the policy denies them. The caller must close it.
func (f *Flags) OpenJudge(ctx context.Context, s *console.Streams) (*OpenClient, error) {
	c := &OpenClient{streams: s}
	o := fetch.Options{Dial: func(context.Context, string, netip.AddrPort) (net.Conn, error) { return nil, errConnect }}
	options, err := f.Schemes()
	if err != nil {
		return nil, err
	}
	if o.Proxy, err = f.proxy.proxyFunc(os.Getenv); err != nil {
		return nil, err
	}
	all, err := f.gateway.apply(schemes.All(options), &f.proxy, o.Proxy, f.startTLS.required || f.ftp.tlsControl)
	if err != nil {
		return nil, err
	}
	if o.Route, err = f.route.route(); err != nil {
		return nil, err
	}
	if err := f.applyPolicy(ctx, c, Spec{}, all, &o); err != nil {
		return nil, err
	}
	c.Client = fetch.New(o, all...)
	return c, nil
}
