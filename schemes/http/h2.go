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
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/uri"
)

// An h2 sends HTTP/2 requests. It has one http.Transport for each poolKey,
// because requests with another Net.Key may use a connection only if Net.Permits
// allows it. If a server selects HTTP/1.1, the connection is moved to the HTTP/1
// pool, and later requests use HTTP/1.
type h2 struct {
	env  fetch.Env
	idle *sessions.Pool[*conn]

	mu         sync.Mutex
	transports map[poolKey]*http.Transport
	servers    map[string]*server // keyed by Net.Key and address
	http1Only  map[string]bool    // servers that selected HTTP/1.1, by address
	watching   bool
	exchanges  [2]int // number of active requests per window

	// A separate mutex protects conns, because eofConn.Close uses conns while
	// closeIdle holds mu.
	connsMu sync.Mutex
	conns   map[*eofConn]h2Conn
}

const (
	maxTransport = 64
	maxServers   = 1024
)

// A poolKey selects a transport. Requests with different windows do not share
// connections.
type poolKey struct {
	net    string // from fetch.Net.Key
	window window
}

// A server records whether the first request to a host and port was sent.
type server struct {
	requested [2]chan struct{} // closed when the first request with a window was sent; nil before this request
}

// errHTTP1Only means that the server selected HTTP/1.1 instead of HTTP/2.
var errHTTP1Only = errors.New("server chose HTTP/1.1")

// errOtherKey means that a connection of another Net.Key was closed before the
// request could use it.
var errOtherKey = errors.New("connection of another key is closed")

func (h *h2) send(ctx context.Context, netKey string, req *fetch.Request, wr *wireRequest) (*exchange, error) {
	key := poolKey{netKey, h.startExchange()}
	requested, err := h.awaitFirst(ctx, key, wr.address)
	if err != nil {
		h.endExchange(key.window)
		return nil, err
	}
	defer requested()
	x := &exchange{trace: req.Trace}
	tries, last := 0, trace.Secured
	var mu sync.Mutex // net/http calls the trace from several goroutines, in any order
	head := headTrace{trace: req.Trace}
	reached := func(p trace.Phase) {
		mu.Lock()
		defer mu.Unlock()
		for last < p {
			last++
			req.Trace.Reached(last, x.conn)
		}
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { // called for each connection that is tried
			mu.Lock()
			defer mu.Unlock()
			if tries++; tries > 1 {
				req.Trace.Restarted()
			}
			x.conn, last = info.Conn, trace.Secured
			if guard, ok := info.Conn.(*frameGuard); ok {
				guard.requestSent()
			}
			head.fields = nil
			if !info.Reused {
				req.Trace.Reached(trace.Secured, info.Conn)
			} else {
				reportReused(req.Trace, info.Conn)
			}
		},
		WroteHeaderField: func(name string, values []string) {
			mu.Lock()
			defer mu.Unlock()
			head.add(name, values)
		},
		WroteHeaders: func() {
			mu.Lock()
			defer mu.Unlock()
			head.report()
		},
		WroteRequest: func(httptrace.WroteRequestInfo) {
			reached(trace.RequestSent)
			requested()
		},
		GotFirstResponseByte: func() { reached(trace.FirstByte) },
	})
	r, err := wr.netRequest(ctx)
	if err != nil {
		h.endExchange(key.window)
		return nil, err
	}
	resp, err := h.transport(h.sharedKey(ctx, key, wr.address)).RoundTrip(r)
	if errors.Is(err, errOtherKey) {
		resp, err = h.transport(key).RoundTrip(r)
	}
	if err != nil {
		h.endExchange(key.window)
		if errors.Is(err, errHTTP1Only) {
			return nil, errHTTP1Only
		}
		return nil, requestFault(ctx, err)
	}
	x.proto, x.code, x.tls, x.length = "HTTP/2", resp.StatusCode, resp.TLS, resp.ContentLength
	x.header = fromNetHTTP(resp.Header)
	x.lengthOverflow = x.length < 0 && http1.OverflowsLength(x.header.Get("Content-Length"))
	x.head = http1Head(x)
	mu.Lock()
	head.report() // if the response came before net/http called WroteHeaders
	mu.Unlock()
	reportHTTP2Response(req.Trace, x)
	x.trailer = func() fetch.Header { return fromNetHTTP(resp.Trailer) }
	x.body = &stream{ReadCloser: resp.Body, ctx: ctx, h: h, window: key.window, trace: req.Trace}
	return x, nil
}

// netRequest converts the request to an http.Request. It does not set
// URL.Opaque, because net/http would interpret a path such as "//x/y" as a
// host.
func (wr *wireRequest) netRequest(ctx context.Context) (*http.Request, error) {
	path, err := uri.Unescape(wr.path)
	if err != nil {
		return nil, fetch.BadURL.With(err)
	}
	query, has := strings.CutPrefix(wr.query, "?")
	r := &http.Request{
		Method: wr.method,
		URL: &url.URL{
			Scheme: wr.target.Scheme, Host: wr.address,
			Path: path, RawPath: wr.path, RawQuery: query, ForceQuery: has && query == "",
		},
		Host:   wr.host,
		Header: toNetHTTP(wr.header),
	}
	host := net.JoinHostPort(r.URL.Hostname(), r.URL.Port())
	if r.URL.RequestURI() != wr.path+wr.query || r.URL.Host != host {
		return nil, fetch.Internal.Errorf("request line or host differs from the URL")
	}
	return r.WithContext(ctx), nil
}

// A stream is the response body of an HTTP/2 request.
type stream struct {
	io.ReadCloser
	ctx     context.Context
	h       *h2
	window  window
	trace   *trace.Trace
	endOnce sync.Once
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if s.trace != nil && s.trace.Received != nil && n > 0 {
		s.trace.Received(p[:n])
	}
	if err != nil {
		s.endOnce.Do(s.end)
		if err != io.EOF {
			err = bodyFault(s.ctx, err)
		}
	}
	return n, err
}

func (s *stream) end() { s.h.endExchange(s.window) }

// Close closes the response body. Close may be called during a Read.
func (s *stream) Close() error {
	err := s.ReadCloser.Close()
	s.endOnce.Do(s.end)
	return err
}

// server returns the entry of h.servers for a host and port. The caller must
// hold h.mu.
func (h *h2) server(netKey, addr string) *server {
	key := netKey + " " + addr
	if s := h.servers[key]; s != nil {
		return s
	}
	if h.servers == nil || len(h.servers) >= maxServers {
		h.servers, h.http1Only = map[string]*server{}, map[string]bool{}
	}
	s := &server{}
	h.servers[key] = s
	return s
}

// awaitFirst waits until the first request with the given key to a server has
// been sent. Concurrent requests can then share its connection. The first
// request does not wait, but its caller must call requested after the request
// was sent or has failed.
func (h *h2) awaitFirst(ctx context.Context, key poolKey, addr string) (requested func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.server(key.net, addr)
	sent := s.requested[key.window]
	if sent == nil && !h.http1Only[addr] {
		sent = make(chan struct{})
		s.requested[key.window] = sent
		return sync.OnceFunc(func() { close(sent) }), nil
	}
	if sent != nil {
		h.mu.Unlock()
		select {
		case <-sent:
		case <-ctx.Done():
			err = requestFault(ctx, ctx.Err())
		}
		h.mu.Lock()
	}
	if h.http1Only[addr] && err == nil {
		err = errHTTP1Only
	}
	return func() {}, err
}

// poolHTTP1 adds an HTTP/1.1 connection to the pool from which sendHTTP1 takes
// connections.
func (h *h2) poolHTTP1(netKey, addr string, c *tls.Conn, raw *eofConn) {
	h.mu.Lock()
	h.server(netKey, addr) // makes the maps
	h.http1Only[addr] = true
	h.mu.Unlock()
	key := connKey(netKey, "https", addr)
	h.idle.Put(key, newConn(c, raw))
}

// transport returns the http.Transport for requests with the given key.
func (h *h2) transport(key poolKey) *http.Transport {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.transports[key]
	if t == nil {
		if len(h.transports) >= maxTransport {
			h.closeIdle()
			clear(h.transports)
		}
		t = h.newTransport(key)
		if h.transports == nil {
			h.transports = map[poolKey]*http.Transport{}
		}
		h.transports[key] = t
	}
	return t
}

func (h *h2) newTransport(key poolKey) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true) // net/http takes a frameGuard for an unencrypted connection
	return &http.Transport{
		DialTLSContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			return h.dial(ctx, key, addr)
		},
		Protocols:              protocols,
		HTTP2:                  key.window.config(h.env.Idle),
		DisableCompression:     true,
		ResponseHeaderTimeout:  firstByteTime(h.env.Idle),
		IdleConnTimeout:        sessions.IdleTimeout,
		MaxResponseHeaderBytes: http1.MaxHead,
	}
}

// dial opens a TLS connection. If the server selects HTTP/2, it returns a
// frameGuard.
func (h *h2) dial(ctx context.Context, key poolKey, addr string) (net.Conn, error) {
	if h.env.Net.Key(ctx) != key.net {
		return nil, errOtherKey
	}
	dial := dialer{env: h.env}
	end := h.idle.Opening(ctx, connKey(key.net, "https", addr), nil)
	c, raw, err := dial.dialTLS(ctx, addr)
	end(err)
	if err != nil {
		return nil, err
	}
	if c.ConnectionState().NegotiatedProtocol != "h2" {
		h.poolHTTP1(key.net, addr, c, raw)
		return nil, errHTTP1Only
	}
	h.track(raw, h2Conn{key, addr})
	return newFrameGuard(c), nil
}

// watch waits until the Client is closed and then closes the unused
// connections.
func (h *h2) watch() {
	<-h.env.Done
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closeUnused()
}

func (h *h2) closeIdle() {
	for _, t := range h.transports {
		t.CloseIdleConnections()
	}
}

// closeUnused closes idle connections. If no request is active, it closes all
// connections. This is necessary because net/http keeps a connection open while
// it cancels the last stream.
func (h *h2) closeUnused() {
	h.closeIdle()
	if h.exchanges[wide]+h.exchanges[narrow] > 0 {
		return
	}
	h.connsMu.Lock()
	defer h.connsMu.Unlock()
	for e := range h.conns {
		e.Conn.Close()
	}
	clear(h.conns)
}

// startExchange increments the number of active requests. It returns the
// window of the next request.
func (h *h2) startExchange() window {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.watching && h.env.Done != nil {
		h.watching = true
		go h.watch()
	}
	w := wide
	if h.exchanges[wide] >= maxWide {
		w = narrow
	}
	h.exchanges[w]++
	return w
}

// endExchange decrements the number of active requests. If the Client is
// closed, it also closes unused connections.
func (h *h2) endExchange(w window) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.exchanges[w]--
	if h.clientClosed() {
		h.closeUnused()
	}
}

// clientClosed reports whether the fetch.Client is closed. A closed Client
// keeps no idle connections.
func (h *h2) clientClosed() bool {
	select {
	case <-h.env.Done:
		return true
	default:
		return false
	}
}
