package http

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/http1"
	"github.com/anyurl/fetch/internal/sessions"
	"github.com/anyurl/fetch/uri"
)

// An h2 asks servers by HTTP/2: one Transport of net/http for each set of
// requests that may share a connection. A connection on which a server chose
// HTTP/1.1 waits among those, and the server is not offered HTTP/2 again.
type h2 struct {
	env  fetch.Env
	idle *sessions.Pool[*conn]

	mu         sync.Mutex
	transports map[string]*http.Transport // by fetch.Net.Key
	servers    map[string]*server         // by key and address
	watching   bool
	exchanges  int // under way

	// Of its own, because closing what is idle closes connections under mu.
	secureMu sync.Mutex
	secure   map[*ending]struct{}
}

const (
	maxTransport = 64
	maxServers   = 1024
)

// A server is what is known of one.
type server struct {
	old   bool          // it chose HTTP/1.1
	asked chan struct{} // closed when the first request is on its way
}

// errOnlyOld says that a server speaks HTTP/1.1.
var errOnlyOld = errors.New("server chose HTTP/1.1")

func (h *h2) send(ctx context.Context, leave string, req *fetch.Request, a *ask) (*exchange, error) {
	asked, err := h.first(ctx, leave, a.address)
	if err != nil {
		return nil, err
	}
	defer asked()
	x := &exchange{trace: req.Trace}
	tries, last := 0, fetch.Secured
	var mu sync.Mutex // net/http calls from several goroutines, in any order
	reached := func(p fetch.Phase) {
		mu.Lock()
		defer mu.Unlock()
		for last < p {
			last++
			req.Trace.Reached(last, x.conn)
		}
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { // for each that is tried
			mu.Lock()
			defer mu.Unlock()
			if tries++; tries > 1 {
				req.Trace.Restarted()
			}
			x.conn, last = info.Conn, fetch.Secured
			if !info.Reused {
				req.Trace.Reached(fetch.Secured, info.Conn)
			}
		},
		WroteRequest: func(httptrace.WroteRequestInfo) {
			reached(fetch.Asked)
			asked()
		},
		GotFirstResponseByte: func() { reached(fetch.Answered) },
	})
	r, err := a.direct(ctx)
	if err != nil {
		return nil, err
	}
	transport := h.enter(leave)
	resp, err := transport.RoundTrip(r)
	if err != nil {
		h.leave()
		if errors.Is(err, errOnlyOld) {
			return nil, errOnlyOld
		}
		return nil, requestFault(ctx, err)
	}
	x.proto, x.code, x.tls, x.length = "HTTP/2", resp.StatusCode, resp.TLS, resp.ContentLength
	x.header = fromHTTP(resp.Header)
	x.endless = x.length < 0 && http1.Endless(x.header.Get("Content-Length"))
	x.head = headOf(x)
	x.trailer = func() fetch.Header { return fromHTTP(resp.Trailer) }
	x.body = &stream{ReadCloser: resp.Body, ctx: ctx, h: h}
	return x, nil
}

// direct makes the request for net/http. Path and RawPath together give the
// bytes of the URL; Opaque would make another host of "//x/y".
func (a *ask) direct(ctx context.Context) (*http.Request, error) {
	path, err := uri.Unescape(a.path)
	if err != nil {
		return nil, fetch.BadURL.With(err)
	}
	query, has := strings.CutPrefix(a.query, "?")
	r := &http.Request{
		Method: a.method,
		URL:    &url.URL{Scheme: a.target.Scheme, Host: a.address, Path: path, RawPath: a.path, RawQuery: query, ForceQuery: has && query == ""},
		Host:   a.host,
		Header: toHTTP(a.header),
	}
	if line := r.URL.RequestURI(); line != a.path+a.query || r.URL.Host != net.JoinHostPort(r.URL.Hostname(), r.URL.Port()) {
		return nil, fetch.Internal.Errorf("request line or host is not that of the URL")
	}
	return r.WithContext(ctx), nil
}

// A stream is a body of HTTP/2.
type stream struct {
	io.ReadCloser
	ctx    context.Context
	h      *h2
	ending sync.Once
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if err != nil {
		s.ending.Do(s.h.leave)
		if err != io.EOF {
			err = bodyFault(s.ctx, err)
		}
	}
	return n, err
}

// Close may be called beside Read.
func (s *stream) Close() error {
	err := s.ReadCloser.Close()
	s.ending.Do(s.h.leave)
	return err
}

// server returns what is known of one, or what will be; h.mu is held.
func (h *h2) server(leave, addr string) (s *server, known bool) {
	key := leave + " " + addr
	if s := h.servers[key]; s != nil {
		return s, true
	}
	if h.servers == nil || len(h.servers) >= maxServers {
		h.servers = map[string]*server{}
	}
	s = &server{asked: make(chan struct{})}
	h.servers[key] = s
	return s, false
}

// first waits while another request is the first to a server: the connection
// that it makes may do for all. The one for which it does not wait says so
// when it is asked.
func (h *h2) first(ctx context.Context, leave, addr string) (asked func(), err error) {
	h.mu.Lock()
	s, known := h.server(leave, addr)
	h.mu.Unlock()
	if !known {
		return sync.OnceFunc(func() { close(s.asked) }), nil
	}
	select {
	case <-s.asked:
	case <-ctx.Done():
		return nil, requestFault(ctx, ctx.Err())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.old {
		return nil, errOnlyOld
	}
	return func() {}, nil
}

// keepOld puts a connection that is none of HTTP/2 where sendOld finds it.
func (h *h2) keepOld(leave, addr string, c *tls.Conn, below *ending) {
	h.mu.Lock()
	s, known := h.server(leave, addr)
	if !known { // any more
		close(s.asked)
	}
	s.old = true
	h.mu.Unlock()
	key := connKey(leave, "https", addr)
	h.idle.Put(key, newConn(c, below))
}

// enter begins an exchange.
func (h *h2) enter(leave string) *http.Transport {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.exchanges++
	t := h.transports[leave]
	if t == nil {
		if len(h.transports) >= maxTransport {
			h.closeIdle()
			clear(h.transports)
		}
		t = h.transport(leave)
		if h.transports == nil {
			h.transports = map[string]*http.Transport{}
		}
		h.transports[leave] = t
	}
	if !h.watching && h.env.Done != nil {
		h.watching = true
		go h.watch()
	}
	return t
}

func (h *h2) transport(leave string) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true) // offered; but see dial
	protocols.SetHTTP2(true)
	return &http.Transport{
		DialTLSContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			return h.dial(ctx, leave, addr)
		},
		Protocols:              protocols,
		DisableCompression:     true,
		ResponseHeaderTimeout:  firstByte,
		IdleConnTimeout:        sessions.IdleTime,
		MaxResponseHeaderBytes: http1.MaxHead,
	}
}

// dial gives net/http the TLS connection itself, which it knows by that type.
func (h *h2) dial(ctx context.Context, leave, addr string) (net.Conn, error) {
	dial := dialer{env: h.env}
	c, below, err := dial.secure(ctx, addr)
	if err != nil {
		return nil, err
	}
	if c.ConnectionState().NegotiatedProtocol != "h2" {
		h.keepOld(leave, addr, c, below)
		return nil, errOnlyOld
	}
	h.add(below)
	return c, nil
}

// watch ends with the Client.
func (h *h2) watch() {
	<-h.env.Done
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sweep()
}

func (h *h2) closeIdle() {
	for _, t := range h.transports {
		t.CloseIdleConnections()
	}
}

// sweep ends what is idle, and everything after the last exchange: net/http
// keeps a connection whose last stream is still being cancelled.
func (h *h2) sweep() {
	h.closeIdle()
	if h.exchanges > 0 {
		return
	}
	h.secureMu.Lock()
	defer h.secureMu.Unlock()
	for e := range h.secure {
		e.Conn.Close()
	}
	clear(h.secure)
}

// leave ends an exchange.
func (h *h2) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.exchanges--
	if h.closed() {
		h.sweep()
	}
}

// add keeps a connection until it is closed.
func (h *h2) add(e *ending) {
	h.secureMu.Lock()
	if h.secure == nil {
		h.secure = map[*ending]struct{}{}
	}
	h.secure[e] = struct{}{}
	h.secureMu.Unlock()
	e.onClose(func() {
		h.secureMu.Lock()
		defer h.secureMu.Unlock()
		delete(h.secure, e)
	})
	if h.closed() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.sweep()
	}
}

// closed reports whether the Client is, so that nothing may stay idle.
func (h *h2) closed() bool {
	select {
	case <-h.env.Done:
		return true
	default:
		return false
	}
}
