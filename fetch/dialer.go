package fetch

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/datagram"
	"github.com/anyurl/fetch/internal/wire/proxy"
)

// A dialer opens all network connections of a Client and implements Net.
// Drivers never dial, listen or resolve names themselves.
type dialer struct {
	policy    *Policy
	resolver  Resolver
	proxy     ProxyFunc
	route     func(Target) Target
	tls       *tls.Config // for connections to proxies
	dial      func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error)
	local     []netip.Addr  // local addresses of connections, or nil
	ports     [2]uint16     // first and last local port of connections, or zero
	delay     time.Duration // between attempts to connect; 0 means one after another
	keepAlive net.KeepAliveConfig
	keepTime  time.Duration // of net.Dialer.KeepAlive, which has no effect if keepAlive is enabled
	socket    string        // path of a Unix domain socket, or ""

	absence struct {
		sync.Mutex
		until time.Time // until then, the resolver resolves no names of the Internet
	}
	readers readers  // for SetBlockingReads
	named   sync.Map // HTTP proxies that get names, because they refuse tunnels for http; the keys are their URLs
	noted   sync.Map // ports that notePort has reported; the keys have the form "scheme port N"
}

func newDialer(p *Policy, o Options) *dialer {
	d := &dialer{policy: p, resolver: o.Resolver, proxy: o.Proxy, route: o.Route, tls: o.TLS, dial: o.Dial,
		local: o.LocalAddrs, ports: o.LocalPorts, socket: o.Socket}
	if o.KeepAlive != nil {
		d.keepTime, d.keepAlive = -1, *o.KeepAlive
	}
	if d.delay = max(o.AttemptDelay, 0); o.AttemptDelay == 0 {
		d.delay = raceDelay
	}
	if d.resolver == nil {
		d.resolver = SystemResolver()
	}
	return d
}

func (d *dialer) Key(ctx context.Context) string {
	if g := grantOf(ctx); g != nil {
		return d.keyOf(g)
	}
	return "no grant"
}

// keyOf returns the key of the requests with the grant g. Those that use the Unix
// domain socket have another key, because all other requests must not use its
// connections.
func (d *dialer) keyOf(g *grant) string {
	if g.socket {
		return g.key() + ", socket"
	}
	return g.key()
}

// Permits allows only direct connections to the server of the URL. The user must
// have entered the URL, or a document on the same host and port must have
// supplied it. The Policy must allow the IP address of the connection, and both
// requests must agree on the use of client certificates.
func (d *dialer) Permits(ctx context.Context, c net.Conn) bool {
	g, own := grantOf(ctx), connOf(c)
	return g != nil && own != nil && (own.key == d.keyOf(g) || d.permits(g, own))
}

func (d *dialer) permits(g *grant, c *conn) bool {
	t := g.target
	if !c.peer.IsValid() || !c.proxy.URL.IsZero() || g.socket || !g.typed && !g.isPageServer(t) ||
		g.anonymous != strings.Contains(c.key, anonymousKey) {
		return false
	}
	return c.host == t.Host && c.peer.Port() == t.Port &&
		d.policy.checkTarget(g, t) == nil && d.policy.checkAddr(g, t, c.peer.Addr()) == nil
}

func (d *dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	g := grantOf(ctx)
	if g == nil {
		return nil, rejectAddress("connection without a request", addr)
	}
	if network == "tcp" && proxy.IsConfigured(ctx) {
		return d.dialConfigured(ctx, addr)
	}
	own := g.target
	if datagram.IsAlternative(ctx, addr) && usesConfigured(ctx, g) {
		return nil, Unsupported.Errorf("an alternative service cannot replace a server of the configuration")
	}
	t, g, err := d.dialTarget(ctx, g, addr)
	if err != nil {
		return nil, err
	}
	if err := d.policy.checkTarget(g, t); err != nil {
		return nil, err
	}
	if datagram.IsAlternative(ctx, addr) && t != own {
		if err := d.checkAlternative(own, t); err != nil {
			return nil, err
		}
	}
	d.notePort(g, t)
	if _, shakes := datagram.From(ctx); shakes && g.socket {
		return nil, Unsupported.Errorf("a Unix domain socket has no UDP")
	}
	if network == "tcp" && proxy.IsDirect(ctx) && slices.Contains(g.scheme.Trust, addr) {
		return d.connect(ctx, network, g, t) // a KDC, to which the routes of other servers do not lead
	}
	if g.socket && t == g.target && network == "tcp" {
		return d.connectSocket(ctx, g)
	}
	if d.route != nil {
		if place := d.route(t); place != t {
			t, g = place, g.withConfiguredTarget()
		}
	}
	if network != "tcp" && slices.Contains(amplifiers, t.Port) {
		return nil, BadPort.With(&Refusal{Rule: "port of a service that amplifies datagrams", Subject: t.Address()})
	}
	via, err := d.proxyFor(t)
	if err != nil {
		return nil, err
	}
	if !via.URL.IsZero() {
		return d.dialThroughProxy(ctx, network, via, g, t)
	}
	return d.connect(ctx, network, g, t)
}

// notePort adds a note to the Trace if the port of t is unusual for its scheme.
// Each port is noted once per Client.
func (d *dialer) notePort(g *grant, t Target) {
	_, unusual := d.policy.portVerdictFor(g, t)
	if !unusual || g.configured || g.trace == nil || g.trace.Note == nil {
		return
	}
	port := t.Scheme + " port " + strconv.Itoa(int(t.Port))
	if _, again := d.noted.LoadOrStore(port, true); !again {
		g.trace.Notef("unusual: %s", port)
	}
}

// dialTarget parses addr, a host and port, and returns the grant with which the
// Policy checks it. An address is treated as supplied by the server, unless it
// is the host of the URL or an address from the configuration.
func (d *dialer) dialTarget(ctx context.Context, g *grant, addr string) (t Target, as *grant, err error) {
	if addr == g.target.Address() {
		return g.target, g, nil
	}
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return t, nil, rejectAddress("not host:port", addr)
	}
	t = Target{Scheme: g.scheme.Name, Host: strings.ToLower(host)}
	if err := t.setPort(text); err != nil {
		return t, nil, err
	}
	if a, err := netip.ParseAddr(host); err == nil {
		t.Addr = a
	} else if rule := hostRule(t.Host); rule != "" || host == "" {
		return t, nil, rejectAddress(rule, addr)
	}
	alternative := datagram.IsAlternative(ctx, addr)
	if !alternative && slices.Contains(g.scheme.Trust, addr) {
		return t, g.withConfiguredTarget(), nil
	}
	if alternative && t.Host == g.target.Host {
		return t, g.withOtherPort(), nil
	}
	return t, g.withServerTarget(), nil
}

// connect resolves the host of t and connects to one of the addresses that the
// Policy allows.
func (d *dialer) connect(ctx context.Context, network string, g *grant, t Target) (net.Conn, error) {
	addrs, err := d.resolveAllowed(ctx, g, t)
	if err != nil {
		return nil, err
	}
	if _, shakes := datagram.From(ctx); network != "tcp" && !shakes {
		// Connecting a UDP socket always succeeds, so only the first address is
		// used. Most servers that use UDP have only IPv4, so IPv4 addresses
		// come first.
		slices.SortStableFunc(addrs, func(a, b netip.Addr) int { return a.BitLen() - b.BitLen() })
	}
	g.trace.Reached(trace.Resolved, nil)
	judge := func(a netip.Addr) error { return d.policy.checkAddr(g, t, a) }
	raw, err := d.race(ctx, network, addrs, t.Port, judge)
	if err != nil {
		return nil, err
	}
	c := d.newConn(raw.conn, g, raw.addr, t.Host)
	reportConnected(g.trace, c, t.Host, raw.addr)
	reportDatagram(g.trace, raw.conn)
	return c, nil
}

// reportConnected reports an established connection to the Trace.
func reportConnected(t *trace.Trace, c net.Conn, host string, to netip.AddrPort) {
	t.Connectionf("Connected to %s (%v) port %d", host, to.Addr(), to.Port())
	t.Reached(trace.Connected, c)
}

// resolveAllowed resolves the host of t and returns the addresses that the
// Policy allows. It returns an error if the Policy denies all addresses.
func (d *dialer) resolveAllowed(ctx context.Context, g *grant, t Target) ([]netip.Addr, error) {
	addrs, err := d.resolve(ctx, t, g.typed || g.configured)
	if err != nil {
		return nil, err
	}
	var kept []netip.Addr
	var refused error
	for _, a := range addrs {
		if err := d.policy.checkAddr(g, t, a); err != nil {
			refused = err
			continue
		}
		kept = append(kept, a)
	}
	if len(kept) == 0 {
		return nil, refused
	}
	return kept, nil
}

// DialPeer opens a connection to the server at the other end of control, at the
// given port. It never connects to another IP address, even if the server sent
// one with the port.
func (d *dialer) DialPeer(ctx context.Context, control net.Conn, port uint16) (net.Conn, error) {
	g, c, err := d.controlConn(ctx, control)
	if err != nil {
		return nil, err
	}
	if port < 1024 && !slices.Contains(g.scheme.Ports.Peer, port) {
		subject := "data port " + strconv.Itoa(int(port))
		return nil, BadPort.With(&Refusal{Rule: "server chose a port below 1024", Subject: subject})
	}
	if !c.proxy.URL.IsZero() {
		t := Target{Scheme: g.scheme.Name, Host: c.host, Port: port}
		t.Addr, _ = netip.ParseAddr(c.host)
		return d.dialTunnel(ctx, c.proxy, g, t)
	}
	judge := func(a netip.Addr) error {
		if a != c.peer.Addr() {
			return rejectAddress("data connection to another host", a.String())
		}
		return nil
	}
	raw, err := d.race(ctx, "tcp", []netip.Addr{c.peer.Addr()}, port, judge)
	if err != nil {
		return nil, err
	}
	data := d.newConn(raw.conn, g, raw.addr, c.host)
	g.trace.Connectionf("Connected to %s (%v) port %d", c.host, raw.addr.Addr(), port)
	return data, nil
}

func (d *dialer) controlConn(ctx context.Context, control net.Conn) (*grant, *conn, error) {
	g, c := grantOf(ctx), connOf(control)
	if g == nil || c == nil || c.key != d.keyOf(g) && !d.permits(g, c) {
		return nil, nil, rejectAddress("control connection belongs to another request", "")
	}
	return g, c, nil
}

func (d *dialer) ListenPeer(ctx context.Context, control net.Conn) (net.Listener, error) {
	_, c, err := d.controlConn(ctx, control)
	if err != nil {
		return nil, err
	}
	if !c.proxy.URL.IsZero() {
		return nil, Unsupported.Errorf("active mode does not work through a proxy")
	}
	host, _, err := net.SplitHostPort(c.LocalAddr().String())
	if err != nil {
		return nil, Unsupported.Errorf("connection without a local address")
	}
	config := net.ListenConfig{KeepAlive: d.keepTime, KeepAliveConfig: d.keepAlive}
	l, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, err
	}
	return &peerListener{l, d, c}, nil
}

// A peerListener accepts connections only from the IP address of one peer.
type peerListener struct {
	net.Listener
	dialer  *dialer
	control *conn
}

func (l *peerListener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		to, err := netip.ParseAddrPort(raw.RemoteAddr().String())
		if err == nil && to.Addr().Unmap() == l.control.peer.Addr().Unmap() {
			return l.dialer.wrap(raw, to, l.control.host, l.control.key), nil
		}
		raw.Close()
	}
}

// SetDeadline sets the deadline for Accept, if the underlying listener supports
// deadlines.
func (l *peerListener) SetDeadline(t time.Time) error {
	if d, ok := l.Listener.(interface{ SetDeadline(time.Time) error }); ok {
		return d.SetDeadline(t)
	}
	return nil
}

func (d *dialer) newConn(raw net.Conn, g *grant, to netip.AddrPort, host string) *conn {
	return d.wrap(raw, to, host, d.keyOf(g))
}

// wrap returns a conn for a connection to the server at the address to.
func (d *dialer) wrap(raw net.Conn, to netip.AddrPort, host, key string) *conn {
	c := newConn(raw, d.policy.idleTime())
	c.peer, c.host, c.key, c.readers = to, host, key, &d.readers
	return c
}

func (d *dialer) proxyFor(t Target) (Proxy, error) {
	if d.proxy == nil {
		return Proxy{}, nil
	}
	return d.proxy(t)
}
