package fetch

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/datagram"
	"github.com/anyurl/fetch/internal/wire/reservedport"
)

// raceDelay is the default of Options.AttemptDelay (RFC 8305 section 5).
const raceDelay = 250 * time.Millisecond

type dialResult struct {
	conn net.Conn
	addr netip.AddrPort
	err  error
}

// race connects to several addresses in parallel and returns the first
// connection that succeeds (Happy Eyeballs, RFC 8305). Before each attempt, it
// calls judge, which can reject the address. It returns after all attempts have
// ended.
func (d *dialer) race(
	ctx context.Context, network string, addrs []netip.Addr, port uint16, judge func(netip.Addr) error,
) (dialResult, error) {
	if len(addrs) == 1 {
		to := netip.AddrPortFrom(addrs[0], port)
		c, err := d.dialOne(ctx, network, to, judge)
		return dialResult{c, to, err}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan dialResult)
	next := time.NewTimer(0)
	defer next.Stop()
	var won dialResult
	var first error
	started, running := 0, 0
	for {
		select {
		case <-next.C:
			if started == len(addrs) || won.conn != nil {
				continue
			}
			to := netip.AddrPortFrom(addrs[started], port)
			started, running = started+1, running+1
			go func() {
				c, err := d.dialOne(ctx, network, to, judge)
				results <- dialResult{c, to, err}
			}()
			if d.delay > 0 {
				next.Reset(d.delay)
			}
			continue
		case r := <-results:
			running--
			switch {
			case r.err == nil && won.conn == nil:
				won = r
				cancel()
			case r.err == nil:
				r.conn.Close()
			case first == nil:
				first = r.err
			}
		}
		if won.conn == nil && started < len(addrs) && ctx.Err() == nil {
			next.Reset(0) // try the next address at once after a failure
			continue
		}
		if running == 0 && (won.conn != nil || started == len(addrs) || ctx.Err() != nil) {
			if won.conn != nil {
				return won, nil
			}
			return dialResult{}, first
		}
	}
}

// dialOne connects to one address and reports the attempt to the Trace of the
// request. It returns an error if ctx has already ended.
func (d *dialer) dialOne(
	ctx context.Context, network string, to netip.AddrPort, judge func(netip.Addr) error,
) (net.Conn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	t := traceOf(ctx)
	if network == "tcp" { // connecting a UDP socket sends no datagram
		t.Connectionf("  Trying %v...", to)
	}
	c, err := d.dialAddr(ctx, network, to, judge)
	if open, ok := datagram.From(ctx); ok && err == nil && network == "udp" {
		t.Connectionf("  Trying %v (UDP)...", to)
		c, err = d.openDatagram(ctx, c, open)
	}
	if err != nil {
		t.Connectionf("connect to %v port %d failed: %v", to.Addr(), to.Port(), err)
	}
	return c, err
}

// dialAddr connects to one address after the Policy and judge have accepted it.
func (d *dialer) dialAddr(
	ctx context.Context, network string, to netip.AddrPort, judge func(netip.Addr) error,
) (net.Conn, error) {
	if blocked := d.policy.Blocked; blocked != nil && blocked(netip.AddrPortFrom(to.Addr().Unmap(), to.Port())) {
		return nil, rejectAddress("blocked address", to.String())
	}
	ctx, cancel := context.WithTimeout(ctx, d.policy.connectTime())
	defer cancel()
	if d.dial != nil {
		if err := judge(to.Addr()); err != nil {
			return nil, err
		}
		if network == anyPort {
			network = "udp"
		}
		return d.dial(ctx, network, to)
	}
	dialer := net.Dialer{KeepAlive: d.keepTime, KeepAliveConfig: d.keepAlive}
	dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return rejectAddress("not a numeric address", address)
		}
		if at.Port() != to.Port() {
			return rejectAddress("dialled another port", address)
		}
		return judge(at.Addr())
	}
	var local netip.Addr
	if d.local != nil {
		i := slices.IndexFunc(d.local, func(a netip.Addr) bool { return a.Is4() == to.Addr().Unmap().Is4() })
		if i < 0 {
			return nil, Connect.Errorf("no local address of the same family as %v", to.Addr())
		}
		local = d.local[i]
	}
	if network == anyPort {
		if err := judge(to.Addr()); err != nil {
			return nil, err
		}
		return d.tryPorts(func(port uint16) (net.Conn, error) { return dialAnyPort(ctx, local, port, to) })
	}
	if wrap, ok := reservedport.From(ctx); ok {
		dialer.LocalAddr = localAddr(network, local, 0)
		return dialReserved(ctx, dialer, network, to.String(), wrap)
	}
	return d.tryPorts(func(port uint16) (net.Conn, error) {
		dialer.LocalAddr = localAddr(network, local, port)
		return dialer.DialContext(ctx, network, to.String())
	})
}

// connectSocket connects to the Unix domain socket of the dialer.
func (d *dialer) connectSocket(ctx context.Context, g *grant) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.policy.connectTime())
	defer cancel()
	g.trace.Connectionf("  Trying %s...", d.socket)
	raw, err := new(net.Dialer).DialContext(ctx, "unix", d.socket)
	if err != nil {
		g.trace.Connectionf("connect to %s failed: %v", d.socket, err)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR) {
			return nil, Local.With(err) // a retry cannot succeed, because the path is wrong
		}
		return nil, Connect.With(err)
	}
	c := d.newConn(raw, g, netip.AddrPort{}, g.target.Host)
	g.trace.Connectionf("Connected to %s (%s)", g.target.Host, d.socket)
	g.trace.Reached(trace.Connected, c)
	return c, nil
}
