package nfs_test

import (
	"context"
	"net"
	"net/netip"
	"testing"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/nfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const host = "nfs://192.0.2.1/"

// dial connects the port of NFS, and every other port, to a server.
func dial(nfsAddr, otherAddr string) func(*fetch.Options) {
	return func(o *fetch.Options) {
		o.Dial = func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
			addr := nfsAddr
			if to.Port() != 2049 {
				addr = otherAddr
			}
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		}
	}
}

// ganesha starts a server and returns it with the options of its client.
func ganesha(t *testing.T, export ...string) (*peer.Server, nfs.Options, func(*fetch.Options)) {
	s := peer.Ganesha(t, export...)
	mount := net.JoinHostPort("127.0.0.1", portText(s.Port+1))
	return s, nfs.Options{MountPort: s.Port + 1}, dial(s.Addr, mount)
}

func portText(p uint16) string {
	return netip.AddrPortFrom(netip.IPv4Unspecified(), p).String()[len("0.0.0.0:"):]
}

// serve starts a scripted server in memory and returns a client for it.
func serve(t testing.TB, scripts ...faultnet.Script) (*fetch.Client, *faultnet.Server) {
	n := faultnet.NewNetwork(t)
	s := n.Serve("192.0.2.1:2049", scripts...)
	return schemetest.NewClient(t, nfs.Schemes(nfs.Options{}), func(o *fetch.Options) { o.Dial = n.Dial }), s
}
