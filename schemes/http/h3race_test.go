package http

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/datagram"
	"github.com/anyurl/fetch/internal/wire/http3/message"
)

// A raceTransport selects addrs, and its handshakes take the given times.
type raceTransport struct {
	addrs []string
	took  map[string]time.Duration // by address; negative for an error at this time
	only  bool
}

func (r raceTransport) Addresses(context.Context, string, uint16, string) []string {
	return slices.Clone(r.addrs)
}
func (r raceTransport) Only() bool { return r.only }

func (r raceTransport) HeadStart() time.Duration { return 200 * time.Millisecond }

func (r raceTransport) Handshake(ctx context.Context, socket net.Conn, _ *tls.Config) (message.Conn, error) {
	d := r.took[socket.(raceSocket).addr]
	if err := wait(ctx, max(d, -d)); err != nil {
		return nil, err
	}
	if d < 0 {
		return nil, errors.New("no HTTP/3")
	}
	return raceConn{}, nil
}

// wait waits for a time unless ctx ends earlier.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

type raceSocket struct {
	net.Conn
	addr string
}

func (raceSocket) Close() error { return nil }

type raceConn struct{ message.Conn }

func (raceConn) Usable() bool                         { return true }
func (raceConn) Close() error                         { return nil }
func (raceConn) ConnectionState() tls.ConnectionState { return tls.ConnectionState{} }

// A raceNet resolves names in the time resolve.
type raceNet struct {
	fetch.Net
	resolve time.Duration
}

func (n raceNet) DialContext(ctx context.Context, _, addr string) (net.Conn, error) {
	if err := wait(ctx, n.resolve); err != nil {
		return nil, err
	}
	open, _ := datagram.From(ctx)
	return open(ctx, raceSocket{addr: addr})
}

// TestHTTP3Race checks when TCP starts beside QUIC, which connection is used,
// and that the other attempt has ended.
func TestHTTP3Race(t *testing.T) {
	const ms = time.Millisecond
	const never = time.Hour
	for _, c := range []struct {
		name    string
		resolve time.Duration
		quic    []time.Duration // of each address; negative for an error at this time
		tcp     time.Duration   // the same for TCP, from its start
		begins  time.Duration   // when TCP starts, or 0 if it does not start
		ends    time.Duration   // when the race ends
		winner  string
		dead    int // addresses that are not tried again
	}{
		{"QUIC at once", 0, []time.Duration{20 * ms}, 20 * ms, 0, 20 * ms, "a:1", 0},
		{"QUIC just in time", 0, []time.Duration{199 * ms}, 20 * ms, 0, 199 * ms, "a:1", 0},
		{"QUIC is late and faster than TCP", 0, []time.Duration{300 * ms}, 600 * ms, 200 * ms, 300 * ms, "a:1", 0},
		{"TCP is faster", 0, []time.Duration{900 * ms}, 600 * ms, 200 * ms, 800 * ms, "tcp", 1},
		{"no answer over QUIC", 0, []time.Duration{never}, 20 * ms, 200 * ms, 220 * ms, "tcp", 1},
		{"QUIC fails at once", 0, []time.Duration{-10 * ms}, 20 * ms, 10 * ms, 30 * ms, "tcp", 1},
		{"QUIC fails during TCP", 0, []time.Duration{-250 * ms}, 100 * ms, 200 * ms, 300 * ms, "tcp", 1},
		{"TCP fails first", 0, []time.Duration{2000 * ms}, -20 * ms, 200 * ms, 2000 * ms, "a:1", 0},
		{"both fail", 0, []time.Duration{-250 * ms}, -100 * ms, 200 * ms, 300 * ms, "", 1},
		{"slow name server", 500 * ms, []time.Duration{100 * ms}, 20 * ms, 0, 600 * ms, "a:1", 0},
		{"second address", 0, []time.Duration{-10 * ms, 30 * ms}, 20 * ms, 0, 40 * ms, "a:2", 1},
		{"second address is not reached", 0, []time.Duration{never, 30 * ms}, 20 * ms, 200 * ms, 220 * ms, "tcp", 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			begins := time.Duration(0)
			addrs := []string{"a:1", "a:2"}[:len(c.quic)]
			transport := raceTransport{addrs: addrs, took: map[string]time.Duration{}}
			for i, d := range c.quic {
				transport.took[addrs[i]] = d
			}
			noTCP := errors.New("no TCP")
			h := h3{env: fetch.Env{Net: raceNet{resolve: c.resolve}}, transport: transport}
			h.tcp = func(ctx context.Context, _, _ string) (*tcpConn, error) {
				begins = time.Since(start)
				if err := wait(ctx, max(c.tcp, -c.tcp)); err != nil {
					return nil, err
				}
				if c.tcp < 0 {
					return nil, noTCP
				}
				return &tcpConn{Conn: tls.Client(raceConn{}, nil)}, nil
			}
			conn, tcp, err := h.race(t.Context(), "", nil, &wireRequest{address: "a:1"}, addrs)
			winner := ""
			switch {
			case conn != nil && tcp == nil && err == nil:
				winner = conn.addr
			case conn == nil && tcp != nil && err == errNoHTTP3:
				winner = "tcp"
			case conn != nil || tcp != nil || err != noTCP:
				t.Errorf("%s: got %v, %v, %v", c.name, conn, tcp, err)
			}
			if took := time.Since(start); winner != c.winner || took != c.ends || begins != c.begins || len(h.dead.until) != c.dead {
				t.Errorf("%s: %q won after %v, TCP began after %v, %d dead addresses", c.name, winner, took, begins, len(h.dead.until))
			}
		}) // synctest fails if an attempt is still running
	}
}

// TestUnverifiedAlternatives checks that a server whose certificate is not
// verified cannot direct requests to other hosts.
func TestUnverifiedAlternatives(t *testing.T) {
	all := []string{"a.test:443", "a.test:8443", "b.test:443", "[2001:db8::1]:443", "a.test.b.test:443", "malformed"}
	for _, c := range []struct {
		name   string
		config *tls.Config
		want   []string
	}{
		{"defaults", nil, all},
		{"verified", &tls.Config{}, all},
		{"not verified", &tls.Config{InsecureSkipVerify: true}, all[:2]},
	} {
		h := h3{env: fetch.Env{TLS: c.config}, transport: raceTransport{addrs: all}}
		if got := h.addresses(t.Context(), &wireRequest{address: "a.test:443"}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestHTTP3RaceCanceled checks that the end of a request ends both attempts, and
// says nothing about the server.
func TestHTTP3RaceCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		h := h3{env: fetch.Env{Net: raceNet{}}, transport: raceTransport{took: map[string]time.Duration{"a": time.Hour}}}
		h.tcp = func(ctx context.Context, _, _ string) (*tcpConn, error) { return nil, wait(ctx, time.Hour) }
		_, _, err := h.race(ctx, "", nil, &wireRequest{}, []string{"a"})
		if !errors.Is(err, context.DeadlineExceeded) || len(h.dead.until) > 0 {
			t.Errorf("got %v, %d dead addresses", err, len(h.dead.until))
		}
	})
}

// A misdirectedConn returns 421, or 200 if it is connected to the address own.
type misdirectedConn struct {
	raceConn
	code int
}

func (c misdirectedConn) RoundTrip(_ context.Context, _ []message.Field, _ time.Duration, sent, done func()) (*message.Response, error) {
	sent()
	done()
	return &message.Response{Status: c.code, Length: -1, Body: emptyBody3{}}, nil
}

type emptyBody3 struct{}

func (emptyBody3) Read([]byte) (int, error) { return 0, io.EOF }
func (emptyBody3) Close() error             { return nil }
func (emptyBody3) Trailer() []message.Field { return nil }

type misdirectedTransport struct{ raceTransport }

func (misdirectedTransport) Handshake(_ context.Context, socket net.Conn, _ *tls.Config) (message.Conn, error) {
	code := 421
	if socket.(raceSocket).addr == "own" {
		code = 200
	}
	return misdirectedConn{code: code}, nil
}

// TestHTTP3Misdirected checks that a request is sent to the next address if an
// alternative service does not serve the origin, and that later requests use
// this address.
func TestHTTP3Misdirected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		h := h3{env: fetch.Env{Net: raceNet{}}, transport: misdirectedTransport{raceTransport{addrs: []string{"alternative", "own"}}}, pool: h3pool{done: done}}
		wr := &wireRequest{method: "GET", address: "own"}
		for range 2 {
			restarts := 0
			req := &fetch.Request{Trace: &trace.Trace{Restart: func() { restarts++ }}}
			x, tcp, err := h.send(t.Context(), "", req, wr)
			if err != nil || tcp != nil || x.code != 200 {
				t.Fatalf("got %v, %v, %v", x, tcp, err)
			}
			if want := len(h.dead.until); restarts > want {
				t.Errorf("%d restarts", restarts)
			}
		}
		if !h.dead.has("own", "alternative") || h.dead.has("own", "own") || h.dead.has("alternative", "alternative") {
			t.Errorf("dead addresses: %v", h.dead.until)
		}
		close(done)
	})
}

// certTransport records whether the TLS configuration of a handshake has a
// client certificate.
type certTransport struct {
	raceTransport
	known *bool
}

func (c certTransport) Handshake(_ context.Context, _ net.Conn, config *tls.Config) (message.Conn, error) {
	*c.known = config.Certificates != nil || config.GetClientCertificate != nil
	return raceConn{}, nil
}

// An anonymousNet opens connections without client certificates.
type anonymousNet struct{ raceNet }

func (n anonymousNet) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	return n.raceNet.DialContext(datagram.Anonymous(ctx), network, addr)
}

// TestHTTP3Certificate checks that a connection of HTTP/3 uses no client
// certificate if the Net does not permit it.
func TestHTTP3Certificate(t *testing.T) {
	for _, c := range []struct {
		net  fetch.Net
		want bool
	}{{raceNet{}, true}, {anonymousNet{}, false}} {
		var known bool
		config := &tls.Config{Certificates: make([]tls.Certificate, 1)}
		h := h3{env: fetch.Env{Net: c.net, TLS: config}, transport: certTransport{known: &known}}
		_, err := h.dialWith(t.Context(), func() (*tls.Config, error) { return config, nil }, &wireRequest{target: fetch.Target{Host: "a.test"}}, "a", func() {})
		if err != nil || known != c.want || config.Certificates == nil {
			t.Errorf("%T: certificate used: %v, %v", c.net, known, err)
		}
	}
}

// A limitedNet denies the address that a server has chosen.
type limitedNet struct{ raceNet }

func (n limitedNet) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if addr == "a.test:6379" {
		return nil, fetch.BadPort.Errorf("denied")
	}
	return n.raceNet.DialContext(ctx, network, addr)
}

// TestHTTP3Error checks that a server cannot replace the error at the address of the
// URL by the error at an alternative, which no later attempt can avoid.
func TestHTTP3Error(t *testing.T) {
	const own, other = "a.test:443", "a.test:6379"
	for _, addrs := range [][]string{{own}, {other, own}, {own, other}, {other, own, other}} {
		transport := raceTransport{took: map[string]time.Duration{own: -1}, only: true}
		h := h3{env: fetch.Env{Net: limitedNet{}}, transport: transport}
		_, err := h.dialFirst(t.Context(), &wireRequest{address: own}, addrs)
		if fetch.FaultOf(err) != fetch.Connect {
			t.Errorf("%q: got %v", addrs, err)
		}
	}
}

// A closedNet opens no connections over UDP, like a Net with a proxy.
type closedNet struct{ fetch.Net }

func (closedNet) DialContext(context.Context, string, string) (net.Conn, error) {
	return nil, fetch.Unsupported.Errorf("UDP cannot be used")
}

// TestHTTP3ECH checks that ECH is requested only for open sockets, and only once
// for a connection.
func TestHTTP3ECH(t *testing.T) {
	for _, c := range []struct {
		name    string
		net     fetch.Net
		err     error // of the lookup
		queries int
		fault   fetch.Fault
	}{
		{"direct", raceNet{}, nil, 1, 0},
		{"proxy", closedNet{}, nil, 0, fetch.Unsupported},
		{"failed lookup", raceNet{}, fetch.DNS.Errorf("no answer"), 1, fetch.DNS},
	} {
		queries, known := 0, false
		ech := &ECH{Required: c.err != nil, Configs: func(context.Context, string, uint16, string) ([]byte, error) {
			queries++
			return nil, c.err
		}}
		h := h3{env: fetch.Env{Net: c.net}, ech: ech, transport: certTransport{known: &known}}
		_, err := h.dial(t.Context(), &wireRequest{target: fetch.Target{Host: "a.test"}}, "a", func() {})
		if queries != c.queries || (err != nil || c.fault != 0) && fetch.FaultOf(err) != c.fault {
			t.Errorf("%s: %d queries, %v", c.name, queries, err)
		}
	}
}
