package torture

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/faultnet"
)

// A world is a network in memory with host names and servers. It records the
// operations of clients.
type world struct {
	t     *testing.T
	names map[string][]netip.Addr

	mu             sync.Mutex
	listeners      map[netip.AddrPort]*listener
	silent         map[netip.Addr]bool // addresses that never answer
	open           int                 // number of connections that clients have not closed
	log            []string            // operations of clients, in order
	dials          int
	lateDials      int             // number of dials after the end of watched
	watched        context.Context // context of the caller
	requests       int
	ports          int      // number of ports for data connections
	ops            int      // number of dials, reads and writes of clients
	expireAt       int      // number of the operation whose deadline passes immediately; 0 for none
	missedDeadline string   // error if that operation had no deadline, or a late one
	leaks          []string // secrets that other hosts received
}

func newWorld(t *testing.T) *world {
	w := &world{
		t: t, names: map[string][]netip.Addr{}, listeners: map[netip.AddrPort]*listener{}, silent: map[netip.Addr]bool{},
	}
	for name, addr := range map[string]string{
		"example.com": "8.8.8.8", "other.example": "8.8.4.4", "proxy.example": proxyAddr,
	} {
		w.names[name] = []netip.Addr{netip.MustParseAddr(addr)}
	}
	return w
}

// LookupNetIP implements fetch.Resolver.
func (w *world) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if addrs := w.names[strings.TrimSuffix(host, ".")]; len(addrs) > 0 {
		return addrs, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// serve starts an HTTP server at addr, with TLS if tls is true. The server is
// closed at the end of the test. The certificate of httptest is for
// example.com.
func (w *world) serve(addr string, server *httptest.Server, tls bool) {
	l := &listener{addr: netip.MustParseAddrPort(addr), queue: make(chan net.Conn), done: make(chan struct{})}
	w.listeners[l.addr] = l
	server.Listener = l
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // no log of broken connections
	if tls {
		server.StartTLS()
	} else {
		server.Start()
	}
	w.t.Cleanup(server.Close)
}

// serveConns starts a server at addr that calls converse for each connection,
// with a reader of the connection. The server is closed at the end of the test.
func (w *world) serveConns(addr string, converse func(c net.Conn, r *bufio.Reader)) {
	l := &listener{addr: netip.MustParseAddrPort(addr), queue: make(chan net.Conn), done: make(chan struct{})}
	w.listeners[l.addr] = l
	var talks sync.WaitGroup
	talks.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			talks.Go(func() {
				defer c.Close()
				converse(c, bufio.NewReader(c))
			})
		}
	})
	w.t.Cleanup(func() {
		l.Close()
		talks.Wait()
	})
}

// acceptOne listens at addr for one connection, which it sends to queue.
func (w *world) acceptOne(addr netip.AddrPort) (queue <-chan net.Conn) {
	l := &listener{addr: addr, queue: make(chan net.Conn, 1), done: make(chan struct{})}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listeners[addr] = l
	return l.queue
}

// countRequest counts and records a request.
func (w *world) countRequest(request string) {
	w.note("request %s", request)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests++
}

// dial connects to a server of w. It is a value for fetch.Options.Dial.
func (w *world) dial(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	w.mu.Lock()
	l, silent := w.listeners[to], w.silent[to.Addr()]
	w.mu.Unlock()
	fail := func(err error) error { return &net.OpError{Op: "dial", Net: network, Err: err} }
	switch {
	case silent:
		<-ctx.Done()
		return nil, fail(ctx.Err())
	case l == nil:
		return nil, fail(os.NewSyscallError("connect", syscall.ECONNREFUSED))
	}
	near, far := faultnet.Pipe(netip.MustParseAddrPort("192.0.2.254:40000"), to)
	select {
	case l.queue <- far:
	case <-l.done:
		return nil, fail(os.NewSyscallError("connect", syscall.ECONNREFUSED))
	case <-ctx.Done():
		return nil, fail(ctx.Err())
	}
	return near, nil
}

// record returns a function that calls dial and records the operations of the
// connection.
func (w *world) record(dial faultnet.Dial) faultnet.Dial {
	return func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
		w.mu.Lock()
		w.dials++
		nth := w.dials
		if w.watched.Err() != nil && ctx.Err() == nil {
			w.lateDials++ // a dial with a canceled ctx does not connect
		}
		w.mu.Unlock()
		if end, _ := ctx.Deadline(); w.expires("dial", end) {
			return nil, &net.OpError{Op: "dial", Net: network, Err: os.ErrDeadlineExceeded}
		}
		conn, err := dial(ctx, network, to)
		w.note("dial %s: %v", to, err)
		if err != nil {
			return nil, err
		}
		w.mu.Lock()
		w.open++
		w.mu.Unlock()
		return &recorded{Conn: conn, w: w, nth: nth}, nil
	}
}

// expires counts an operation with the deadline end. It reports whether the
// operation is to fail because its deadline passes.
func (w *world) expires(op string, end time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ops++
	if w.ops != w.expireAt {
		return false
	}
	if end.IsZero() || time.Until(end) > longestWait {
		w.missedDeadline = fmt.Sprintf("%s may wait until %v", op, end)
	}
	return true
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

// recorded is a connection of a client that records its operations.
type recorded struct {
	net.Conn
	w    *world
	nth  int
	once sync.Once

	mu              sync.Mutex
	readBy, writeBy time.Time
}

func (c *recorded) Read(p []byte) (n int, err error) {
	if len(p) > 0 && c.w.expires("read", c.by(&c.readBy)) {
		err = &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	} else {
		n, err = c.Conn.Read(p)
	}
	c.w.note("%d read %d of %d, %v", c.nth, n, len(p), err)
	return n, err
}

func (c *recorded) Write(p []byte) (n int, err error) {
	if len(p) > 0 && c.w.expires("write", c.by(&c.writeBy)) {
		err = &net.OpError{Op: "write", Net: "tcp", Err: os.ErrDeadlineExceeded}
	} else {
		n, err = c.Conn.Write(p)
	}
	c.w.note("%d write %d of %d, %v", c.nth, n, len(p), err)
	return n, err
}

func (c *recorded) by(t *time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *t
}

func (c *recorded) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	c.readBy = t
	c.mu.Unlock()
	return c.Conn.SetReadDeadline(t)
}

func (c *recorded) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	c.writeBy = t
	c.mu.Unlock()
	return c.Conn.SetWriteDeadline(t)
}

func (c *recorded) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *recorded) CloseWrite() error {
	return c.Conn.(interface{ CloseWrite() error }).CloseWrite()
}

func (c *recorded) Close() error {
	c.once.Do(func() {
		c.w.note("%d close", c.nth)
		c.w.mu.Lock()
		defer c.w.mu.Unlock()
		c.w.open--
	})
	return c.Conn.Close()
}

// A listener accepts connections of a world. It implements net.Listener.
type listener struct {
	addr  netip.AddrPort
	queue chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.queue:
		return c, nil
	case <-l.done:
		return nil, errors.New("listener is closed")
	}
}

func (l *listener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.addr) }

func (l *listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}
