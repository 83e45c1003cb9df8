package mirror_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
)

// network is a network in memory for tests in a synctest bubble, with web
// servers and scripted servers by name. It records the requests.
type network struct {
	t       testing.TB
	wrap    []fetch.Middleware
	policy  fetch.Policy
	started time.Time

	mu             sync.Mutex
	names          map[string]netip.Addr
	servers        map[netip.AddrPort]chan net.Conn // accepts the connections of a server
	net            *faultnet.Network
	unknownLookups int      // number of lookups of unknown names
	dialed         []string // host:port
	requested      []string // URLs of HTTP requests, except robots.txt
	requestTimes   []time.Duration
}

func newNetwork(t testing.TB) *network {
	return &network{
		t: t, policy: fetch.Typed(), started: time.Now(), names: map[string]netip.Addr{},
		servers: map[netip.AddrPort]chan net.Conn{}, net: faultnet.NewNetwork(t),
	}
}

// name returns the address of a host. At the first call it assigns addr or else
// a public address.
func (w *network) name(host string, addr ...string) netip.Addr {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a, ok := w.names[host]; ok {
		return a
	}
	a := netip.AddrFrom4([4]byte{8, 8, 4, byte(len(w.names) + 1)})
	if len(addr) > 0 {
		a = netip.MustParseAddr(addr[0])
	}
	w.names[host] = a
	return a
}

// LookupNetIP implements fetch.Resolver.
func (w *network) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a, ok := w.names[strings.TrimSuffix(host, ".")]; ok {
		return []netip.Addr{a}, nil
	}
	w.unknownLookups++
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

func (w *network) dial(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
	w.mu.Lock()
	host := to.Addr().String()
	for name, a := range w.names {
		if a == to.Addr() {
			host = name
		}
	}
	w.dialed = append(w.dialed, fmt.Sprintf("%s:%d", host, to.Port()))
	web := w.servers[to]
	w.mu.Unlock()
	if web == nil {
		return w.net.Dial(ctx, network, to)
	}
	near, far := faultnet.Pipe(netip.MustParseAddrPort("192.0.2.9:4000"), to)
	select {
	case web <- far:
		return near, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	default:
		return nil, syscall.ECONNREFUSED
	}
}

// web starts a server for http://host/ with the handler h.
func (w *network) web(host string, h http.Handler, addr ...string) {
	l := &listener{
		at: netip.AddrPortFrom(w.name(host, addr...), 80), conns: make(chan net.Conn, 64),
		done: make(chan struct{}),
	}
	w.mu.Lock()
	w.servers[l.at] = l.conns
	w.mu.Unlock()
	s := &http.Server{Handler: http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" {
			w.mu.Lock()
			w.requested = append(w.requested, "http://"+r.Host+r.RequestURI)
			w.requestTimes = append(w.requestTimes, time.Since(w.started))
			w.mu.Unlock()
		}
		h.ServeHTTP(out, r)
	})}
	go s.Serve(l)
	w.t.Cleanup(func() { s.Close() })
}

// requests returns the URLs requested since the last call, sorted, and clears
// them.
func (w *network) requests() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.Sort(w.requested)
	all := strings.Join(w.requested, " ")
	w.requested, w.requestTimes, w.dialed = nil, nil, nil
	return all
}

// options returns the options of a mirror in this network, without a pause
// between requests.
func (w *network) options(urls ...string) mirror.Options {
	o := mirror.Options{Dir: w.t.TempDir(), Tree: true, PerHost: 1, Delay: -1, WARC: &mirror.WARC{Prefix: "test"}}
	for _, u := range urls {
		o.Seeds = append(o.Seeds, uri.MustParse(u))
	}
	options := fetch.Options{Policy: w.policy, Resolver: w, Dial: w.dial, Wrap: w.wrap}
	o.Client = fetch.New(options, schemes.All(schemes.Options{})...)
	w.t.Cleanup(func() { o.Client.Close() })
	return o
}

type listener struct {
	at    netip.AddrPort
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *listener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.at) }

// webSite maps paths with queries to bodies. The body "-> URL" redirects to
// URL.
type webSite map[string]string

func (p webSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := p[r.RequestURI]
	to, redirects := strings.CutPrefix(body, "-> ")
	switch {
	case !ok:
		http.NotFound(w, r)
	case redirects:
		w.Header().Set("Location", to)
		w.WriteHeader(302)
	default:
		w.Header().Set("Content-Type", mediaOf(r.URL.Path))
		io.WriteString(w, body)
	}
}

func mediaOf(path string) string {
	for suffix, media := range map[string]string{".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".png": "image/png", ".txt": "text/plain", ".xml": "application/xml", ".woff": "font/woff"} {
		if strings.HasSuffix(path, suffix) {
			return media
		}
	}
	return "text/html"
}

// outcomes returns the last state of each URL in crawl.jsonl, sorted, in lines
// of the form "state URL".
func outcomes(t testing.TB, dir string) string {
	t.Helper()
	last := map[string]string{}
	for _, e := range events(t, dir) {
		last[e.URL] = e.State
		if notes := os.Getenv("NOTES"); notes != "" {
			last[e.URL] += " " + e.Note
		}
	}
	var lines []string
	for u, state := range last {
		if !strings.HasSuffix(u, "/robots.txt") {
			lines = append(lines, state+" "+u)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// checkVerify checks that Verify reports only notes.
func checkVerify(t testing.TB, dir string) {
	t.Helper()
	for f, err := range mirror.Open(mirror.Location{Dir: dir}).Verify(context.Background()) {
		if err != nil || !f.Note {
			t.Errorf("verify: %v %v", f, err)
		}
	}
}

// fall makes a web server refuse connections, and rise ends that.
func (w *network) fall(a netip.Addr) { w.swap(a, -1) }
func (w *network) rise(a netip.Addr) { w.swap(a, 1) }

// swap moves the server of an address between port 80 and the unused port 0.
func (w *network) swap(a netip.Addr, by int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	up, down := netip.AddrPortFrom(a, 80), netip.AddrPortFrom(a, 0)
	if by < 0 {
		up, down = down, up
	}
	w.servers[up] = w.servers[down]
	delete(w.servers, down)
}

func sortedLines(texts []string) string {
	slices.Sort(texts)
	return strings.Join(texts, "\n")
}

func content(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
