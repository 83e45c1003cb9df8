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
	connsMu sync.Mutex
	conns   map[*eofConn]struct{}
}

const (
	maxTransport = 64
	maxServers   = 1024
)

// A server is what is known of one.
type server struct {
	http1Only bool          // it chose HTTP/1.1
	requested chan struct{} // closed when the first request is on its way
}

// errOnlyOld says that a server speaks HTTP/1.1.
var errHTTP1Only = errors.New("server chose HTTP/1.1")

func (h *h2) send(ctx context.Context, netKey string, req *fetch.Request, wr *wireRequest) (*exchange, error) {
	requested, err := h.awaitFirst(ctx, netKey, wr.address)
	if err != nil {
		return nil, err
	}
	defer requested()
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
			requested()
		},
		GotFirstResponseByte: func() { reached(fetch.Answered) },
	})
	r, err := wr.netRequest(ctx)
	if err != nil {
		return nil, err
	}
	transport := h.startExchange(netKey)
	resp, err := transport.RoundTrip(r)
	if err != nil {
		h.endExchange()
		if errors.Is(err, errHTTP1Only) {
			return nil, errHTTP1Only
		}
		return nil, requestFault(ctx, err)
	}
	x.proto, x.code, x.tls, x.length = "HTTP/2", resp.StatusCode, resp.TLS, resp.ContentLength
	x.header = fromNetHTTP(resp.Header)
	x.lengthOverflow = x.length < 0 && http1.OverflowsLength(x.header.Get("Content-Length"))
	x.head = http1Head(x)
	x.trailer = func() fetch.Header { return fromNetHTTP(resp.Trailer) }
	x.body = &stream{ReadCloser: resp.Body, ctx: ctx, h: h}
	return x, nil
}

// direct makes the request for net/http. Path and RawPath together give the
// bytes of the URL; Opaque would make another host of "//x/y".
func (wr *wireRequest) netRequest(ctx context.Context) (*http.Request, error) {
	path, err := uri.Unescape(wr.path)
	if err != nil {
		return nil, fetch.BadURL.With(err)
	}
	query, has := strings.CutPrefix(wr.query, "?")
	r := &http.Request{
		Method: wr.method,
		URL:    &url.URL{Scheme: wr.target.Scheme, Host: wr.address, Path: path, RawPath: wr.path, RawQuery: query, ForceQuery: has && query == ""},
		Host:   wr.host,
		Header: toNetHTTP(wr.header),
	}
	if line := r.URL.RequestURI(); line != wr.path+wr.query || r.URL.Host != net.JoinHostPort(r.URL.Hostname(), r.URL.Port()) {
		return nil, fetch.Internal.Errorf("request line or host is not that of the URL")
	}
	return r.WithContext(ctx), nil
}

// A stream is a body of HTTP/2.
type stream struct {
	io.ReadCloser
	ctx     context.Context
	h       *h2
	endOnce sync.Once
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if err != nil {
		s.endOnce.Do(s.h.endExchange)
		if err != io.EOF {
			err = bodyFault(s.ctx, err)
		}
	}
	return n, err
}

// Close may be called beside Read.
func (s *stream) Close() error {
	err := s.ReadCloser.Close()
	s.endOnce.Do(s.h.endExchange)
	return err
}

// server returns what is known of one, or what will be; h.mu is held.
func (h *h2) server(netKey, addr string) (s *server, exists bool) {
	key := netKey + " " + addr
	if s := h.servers[key]; s != nil {
		return s, true
	}
	if h.servers == nil || len(h.servers) >= maxServers {
		h.servers = map[string]*server{}
	}
	s = &server{requested: make(chan struct{})}
	h.servers[key] = s
	return s, false
}

// first waits while another request is the first to a server: the connection
// that it makes may do for all. The one for which it does not wait says so
// when it is asked.
func (h *h2) awaitFirst(ctx context.Context, netKey, addr string) (requested func(), err error) {
	h.mu.Lock()
	s, exists := h.server(netKey, addr)
	h.mu.Unlock()
	if !exists {
		return sync.OnceFunc(func() { close(s.requested) }), nil
	}
	select {
	case <-s.requested:
	case <-ctx.Done():
		return nil, requestFault(ctx, ctx.Err())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.http1Only {
		return nil, errHTTP1Only
	}
	return func() {}, nil
}

// keepOld puts a connection that is none of HTTP/2 where sendOld finds it.
func (h *h2) poolHTTP1(netKey, addr string, c *tls.Conn, raw *eofConn) {
	h.mu.Lock()
	s, exists := h.server(netKey, addr)
	if !exists { // any more
		close(s.requested)
	}
	s.http1Only = true
	h.mu.Unlock()
	key := connKey(netKey, "https", addr)
	h.idle.Put(key, newConn(c, raw))
}

// enter begins an exchange.
func (h *h2) startExchange(netKey string) *http.Transport {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.exchanges++
	t := h.transports[netKey]
	if t == nil {
		if len(h.transports) >= maxTransport {
			h.closeIdle()
			clear(h.transports)
		}
		t = h.transport(netKey)
		if h.transports == nil {
			h.transports = map[string]*http.Transport{}
		}
		h.transports[netKey] = t
	}
	if !h.watching && h.env.Done != nil {
		h.watching = true
		go h.watch()
	}
	return t
}

func (h *h2) transport(netKey string) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true) // offered; but see dial
	protocols.SetHTTP2(true)
	return &http.Transport{
		DialTLSContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			return h.dial(ctx, netKey, addr)
		},
		Protocols:              protocols,
		DisableCompression:     true,
		ResponseHeaderTimeout:  firstByte,
		IdleConnTimeout:        sessions.IdleTimeout,
		MaxResponseHeaderBytes: http1.MaxHead,
	}
}

// dial gives net/http the TLS connection itself, which it knows by that type.
func (h *h2) dial(ctx context.Context, netKey, addr string) (net.Conn, error) {
	dial := dialer{env: h.env}
	c, raw, err := dial.dialTLS(ctx, addr)
	if err != nil {
		return nil, err
	}
	if c.ConnectionState().NegotiatedProtocol != "h2" {
		h.poolHTTP1(netKey, addr, c, raw)
		return nil, errHTTP1Only
	}
	h.track(raw)
	return c, nil
}

// watch ends with the Client.
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

// sweep ends what is idle, and everything after the last exchange: net/http
// keeps a connection whose last stream is still being cancelled.
func (h *h2) closeUnused() {
	h.closeIdle()
	if h.exchanges > 0 {
		return
	}
	h.connsMu.Lock()
	defer h.connsMu.Unlock()
	for e := range h.conns {
		e.Conn.Close()
	}
	clear(h.conns)
}

// leave ends an exchange.
func (h *h2) endExchange() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.exchanges--
	if h.clientClosed() {
		h.closeUnused()
	}
}

// add keeps a connection until it is closed.
func (h *h2) track(e *eofConn) {
	h.connsMu.Lock()
	if h.conns == nil {
		h.conns = map[*eofConn]struct{}{}
	}
	h.conns[e] = struct{}{}
	h.connsMu.Unlock()
	e.onClose(func() {
		h.connsMu.Lock()
		defer h.connsMu.Unlock()
		delete(h.conns, e)
	})
	if h.clientClosed() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.closeUnused()
	}
}

// closed reports whether the Client is, so that nothing may stay idle.
func (h *h2) clientClosed() bool {
	select {
	case <-h.env.Done:
		return true
	default:
		return false
	}
}
