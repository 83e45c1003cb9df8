package gateway

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/quota"
)

// ClientLimits are the limits of a public Handler for each client. A client is
// an IPv4 address, or a prefix of 64 bits of IPv6 addresses. The value 0
// selects the default.
type ClientLimits struct {
	Requests    int // requests per minute; by default 600
	Running     int // requests that run at the same time; by default 16
	Connections int // open connections; by default 32
	Bytes       int // response bytes per second, averaged over a minute; by default 1 MiB
}

// maxConnections is the maximum number of open connections of a public server.
// A connection needs at most about 80 KiB of memory while no request runs.
const maxConnections = 2048

// A public contains the limits for clients on other machines.
type public struct {
	clients *quota.Table
	proxies []netip.Prefix // reverse proxies
	slots   chan struct{}  // limits the number of open connections
}

// newPublic returns the limits of a public Handler, or nil if the Handler is not
// public. A Handler that is not public needs a loopback address.
func newPublic(opts *Options) (*public, error) {
	if !opts.Public {
		if addr, err := netip.ParseAddrPort(opts.Address.String()); err != nil || !addr.Addr().IsLoopback() {
			return nil, fetch.Usage.Errorf("the address of the listener is not loopback: %v", opts.Address)
		}
		if len(opts.ReverseProxies) > 0 {
			return nil, fetch.Usage.Errorf("only a public server reads the addresses of clients from reverse proxies")
		}
		return nil, nil
	}
	limits := quota.Limits{
		Requests: cmp.Or(opts.Client.Requests, 600), Running: cmp.Or(opts.Client.Running, 16),
		Connections: cmp.Or(opts.Client.Connections, 32), Bytes: cmp.Or(opts.Client.Bytes, 1<<20),
	}
	if min(limits.Requests, limits.Running, limits.Connections, limits.Bytes) < 0 {
		return nil, fetch.Usage.Errorf("a limit for clients is negative")
	}
	return &public{quota.New(limits), opts.ReverseProxies, make(chan struct{}, maxConnections)}, nil
}

// isLocalAddress reports whether the field Host of a request is the address at
// which the connection arrived. A listener on all addresses has no other name.
// A Host that is an address cannot result from DNS rebinding. On a nil *public,
// isLocalAddress returns false.
func (p *public) isLocalAddress(r *http.Request) bool {
	if p == nil {
		return false
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return local != nil && withPort(r.Host) == local.String()
}

func (p *public) isProxy(a netip.Addr) bool {
	return slices.ContainsFunc(p.proxies, func(proxy netip.Prefix) bool { return proxy.Contains(a.Unmap().WithZone("")) })
}

// clientOf returns the address of the client of a request. If the request comes
// from a reverse proxy, the client is the last address in X-Forwarded-For that
// is not a reverse proxy.
func (p *public) clientOf(r *http.Request) netip.Addr {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	client := peer.Addr()
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, text := range slices.Backward(forwarded) {
		if !p.isProxy(client) {
			break
		}
		next, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			break
		}
		client = next
	}
	return client
}

// admit counts the request toward the limits of its client. If the client has
// reached a limit, admit sends an error page and returns nil. Otherwise the
// caller must call the method End of the result.
func (x *exchange) admit() *quota.Use {
	x.w.Header().Set("X-Robots-Tag", "noindex, nofollow")
	use, ok := x.public.clients.Begin(x.public.clientOf(x.r))
	if !ok {
		x.w.Header().Set("Retry-After", strconv.Itoa(int(quota.RetryAfter.Seconds())))
		x.fail(http.StatusTooManyRequests, "Too many requests", "Your address has sent too many requests. Try again later.")
		return nil
	}
	x.w = &limitedWriter{x.w, x.r.Context(), use}
	return use
}

// A limitedWriter writes a response. It delays the bytes that exceed the number
// of bytes per second which the client may receive.
type limitedWriter struct {
	http.ResponseWriter
	ctx context.Context
	use *quota.Use
}

func (w *limitedWriter) Write(p []byte) (n int, err error) {
	const chunk = 32 << 10 // so that all responses to a client make progress
	for n < len(p) && err == nil {
		next := p[n:min(len(p), n+chunk)]
		if err = w.use.Wait(w.ctx, len(next)); err != nil {
			return n, err
		}
		var written int
		written, err = w.ResponseWriter.Write(next)
		n += written
	}
	return n, err
}

// Unwrap returns the writer of the server, for http.ResponseController.
func (w *limitedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// connect counts a connection until the caller calls release. It returns false
// if the client or the server has too many connections.
func (p *public) connect(c net.Conn) (release func(), ok bool) {
	peer, _ := netip.ParseAddrPort(c.RemoteAddr().String())
	client := func() {}
	if !p.isProxy(peer.Addr()) {
		if client, ok = p.clients.Connect(peer.Addr()); !ok {
			return nil, false
		}
	}
	select {
	case p.slots <- struct{}{}:
		return sync.OnceFunc(func() { client(); <-p.slots }), true
	default:
		client()
		return nil, false
	}
}

// robots is the content of /robots.txt. It denies access to all robots.
const robots = "User-agent: *\nDisallow: /\n"

// robotsTxt sends the rules for robots. Robots request only the path /robots.txt.
func (x *exchange) robotsTxt() {
	x.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	x.w.Write([]byte(robots))
}
