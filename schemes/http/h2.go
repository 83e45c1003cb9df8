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
	ech  *ECH
	idle *sessions.Pool[*conn]

	servers h2Servers
	limits  sendLimits

	mu         sync.Mutex
	transports map[poolKey]*http.Transport
	watching   bool
	exchanges  [2]int // number of active requests per window

	// A separate mutex protects conns, because eofConn.Close uses conns while
	// closeIdle holds mu.
	connsMu sync.Mutex
	conns   map[*eofConn]h2Conn
}

// maxTransports is the maximum number of transports.
const maxTransports = 64

// A poolKey selects a transport. Requests with different windows do not share
// connections.
type poolKey struct {
	net    string // from fetch.Net.Key
	window window
}

// errHTTP1Only means that the server selected HTTP/1.1 instead of HTTP/2.
var errHTTP1Only = errors.New("server chose HTTP/1.1")

// errOtherKey means that a connection of another Net.Key was closed before the
// request could use it.
var errOtherKey = errors.New("connection of another key is closed")

func (h *h2) send(ctx context.Context, netKey string, req *fetch.Request, wr *wireRequest) (*exchange, error) {
	key := poolKey{netKey, h.startExchange()}
	x, err := h.exchange(ctx, key, req, wr)
	if err != nil {
		h.endExchange(key.window)
		return nil, err
	}
	return x, nil
}

// exchange sends a request and reads the response head.
func (h *h2) exchange(ctx context.Context, key poolKey, req *fetch.Request, wr *wireRequest) (*exchange, error) {
	sent, err := h.servers.awaitFirst(ctx, key, wr.address)
	if err != nil {
		return nil, err
	}
	defer sent()
	limited, limit := h.limits.limit(withDialLimit(ctx))
	defer limit.stop()
	events := newH2Events(req.Trace, sent, limit)
	r, err := wr.netRequest(httptrace.WithClientTrace(limited, events.clientTrace()))
	if err != nil {
		return nil, err
	}
	limit.watch(r)
	resp, err := h.transport(h.sharedKey(ctx, key, wr.address)).RoundTrip(r)
	if errors.Is(err, errOtherKey) {
		resp, err = h.transport(key).RoundTrip(r)
	}
	switch {
	case errors.Is(err, errHTTP1Only):
		return nil, errHTTP1Only
	case err != nil:
		return nil, requestFault(limited, err)
	}
	x := &exchange{trace: req.Trace, conn: events.responded(), tls: resp.TLS, proto: "HTTP/2", code: resp.StatusCode}
	x.header, x.length = fromNetHTTP(resp.Header), resp.ContentLength
	if x.length < 0 { // net/http ignores values that it cannot parse, and all values if there are several
		rules := http1.Rules{Mode: http1.Regular}
		if x.length, x.lengthOverflow, err = rules.ContentLength(resp.Header["Content-Length"]); err != nil {
			resp.Body.Close()
			return nil, fetch.Protocol.With(err)
		}
	}
	x.head = http1Head(x)
	reportResponse(req.Trace, x)
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
	if wr.hasBody() {
		if err := setBody(r, wr.outgoing); err != nil {
			return nil, err
		}
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

// poolHTTP1 adds an HTTP/1.1 connection to the pool from which sendHTTP1 takes
// connections.
func (h *h2) poolHTTP1(netKey, addr string, c *tls.Conn, raw *eofConn) {
	h.servers.setHTTP1Only(addr)
	h.idle.Put(connKey(netKey, "https", addr), newConn(c, raw))
}

// transport returns the http.Transport for requests with the given key.
func (h *h2) transport(key poolKey) *http.Transport {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.transports[key]
	if t == nil {
		if len(h.transports) >= maxTransports {
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
	if err := countDial(ctx); err != nil {
		return nil, err
	}
	c := attachedConn(ctx, addr)
	if c == nil {
		var err error
		if c, err = h.open(ctx, key.net, addr); err != nil {
			return nil, err
		}
	}
	if !c.isHTTP2() {
		h.poolHTTP1(key.net, addr, c.Conn, c.raw)
		return nil, errHTTP1Only
	}
	h.track(c.raw, h2Conn{key, addr})
	return newFrameGuard(c.Conn), nil
}

// open opens a TLS connection.
func (h *h2) open(ctx context.Context, netKey, addr string) (*tcpConn, error) {
	dial := dialer{env: h.env, ech: h.ech}
	end := h.idle.Opening(ctx, connKey(netKey, "https", addr), nil)
	c, raw, err := dial.dialTLS(ctx, addr)
	end(err)
	if err != nil {
		return nil, err
	}
	return &tcpConn{Conn: c, raw: raw, addr: addr}, nil
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
