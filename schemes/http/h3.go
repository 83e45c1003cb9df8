package http

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/datagram"
	"github.com/anyurl/fetch/internal/wire/http3"
)

// HTTP3 selects whether https requests use HTTP/3 (RFC 9114).
type HTTP3 uint8

const (
	// HTTP3Off uses HTTP/3 only for servers in Options.AltSvc.
	HTTP3Off HTTP3 = iota
	// HTTP3Try uses HTTP/3 if a connection is established in 200 ms. Otherwise
	// it uses TCP.
	HTTP3Try
	// HTTP3Only never uses TCP for https.
	HTTP3Only
)

const (
	headStart = 200 * time.Millisecond // for the QUIC handshake, before TCP is used
	deadTime  = 5 * time.Minute        // in which an address that did not answer is not tried again
	maxDead   = 1024
)

// An h3 sends HTTP/3 requests.
type h3 struct {
	env  fetch.Env
	opts *Options
	pool h3pool

	mu   sync.Mutex
	dead map[string]time.Time // addresses that did not answer, and when they are tried again
}

// errNoHTTP3 means that the request must be sent over TCP.
var errNoHTTP3 = errors.New("no server with HTTP/3")

// send sends a request over HTTP/3. It returns errNoHTTP3 if the request must be
// sent over TCP.
func (h *h3) send(ctx context.Context, netKey string, req *fetch.Request, wr *wireRequest) (*exchange, error) {
	only := h.opts.HTTP3 == HTTP3Only
	failed := errNoHTTP3
	for _, addr := range h.addresses(wr) {
		if !only && h.isDead(addr) {
			continue
		}
		x, err := h.sendTo(ctx, netKey, req, wr, addr)
		if err == nil && x.code == 421 && addr != wr.address { // RFC 7838 section 6
			x.body.Close()
			err = errNoHTTP3
		}
		if err == nil || ctx.Err() != nil {
			return x, err
		}
		failed = err
		var unreachable *unreachableError
		if !errors.Is(err, errNoHTTP3) && !errors.As(err, &unreachable) {
			return nil, err
		}
		if !only {
			h.markDead(addr)
			req.Trace.Connectionf("HTTP/3 at %s: %v; using TCP", addr, err)
		}
	}
	if only {
		return nil, requestFault(ctx, failed)
	}
	return nil, errNoHTTP3
}

// addresses returns the addresses at which HTTP/3 is tried: the alternative
// services of the server, and the server itself.
func (h *h3) addresses(wr *wireRequest) (all []string) {
	if h.opts.AltSvc != nil {
		for _, s := range h.opts.AltSvc.Lookup(wr.target.Host, wr.target.Port) {
			all = append(all, fetch.Target{Host: s.Host, Port: s.Port}.Address())
		}
	}
	if h.opts.HTTP3 != HTTP3Off && !slices.Contains(all, wr.address) {
		all = append(all, wr.address)
	}
	return all
}

func (h *h3) isDead(addr string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Now().Before(h.dead[addr])
}

func (h *h3) markDead(addr string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dead == nil || len(h.dead) >= maxDead {
		h.dead = map[string]time.Time{}
	}
	h.dead[addr] = time.Now().Add(deadTime)
}

// An unreachableError means that no connection was established, so that nothing
// was sent.
type unreachableError struct{ error }

func (e *unreachableError) Unwrap() error { return e.error }

// sendTo sends a request to the server at an address. If the connection is
// closed before the server has processed the request, sendTo opens another one.
func (h *h3) sendTo(ctx context.Context, netKey string, req *fetch.Request, wr *wireRequest, addr string) (*exchange, error) {
	key := netKey + "\x00" + wr.address + "\x00" + addr
	for again := false; ; again = true {
		c, reused, err := h.pool.get(ctx, key, func() (*h3conn, error) { return h.dial(ctx, wr, addr) })
		if err != nil {
			return nil, &unreachableError{requestFault(ctx, err)}
		}
		if reused {
			reportReused(req.Trace, c.net)
		} else {
			req.Trace.Reached(trace.Secured, c.net)
		}
		x, err := h.exchange(ctx, c, req, wr, addr)
		var lost *http3.LostError
		switch {
		case err == nil:
			return x, nil
		case !again && (errors.Is(err, http3.ErrUnsent) || reused && errors.As(err, &lost) && !lost.Reset):
			req.Trace.Restarted()
			continue
		}
		return nil, h3Fault(ctx, err, fetch.Connect)
	}
}

// dial opens a connection to addr, which authenticates as the host of the URL.
func (h *h3) dial(ctx context.Context, wr *wireRequest, addr string) (*h3conn, error) {
	deadline := sync.OnceValue(func() time.Time { return time.Now().Add(headStart) }) // after the name was resolved
	within := datagram.With(ctx, func(ctx context.Context, socket net.Conn) (net.Conn, error) {
		if h.opts.HTTP3 != HTTP3Only {
			limited, cancel := context.WithDeadline(ctx, deadline())
			defer cancel()
			ctx = limited
		}
		config := h.env.TLS.Clone()
		if config == nil {
			config = &tls.Config{}
		}
		if config.ServerName == "" {
			host, _, _ := strings.Cut(wr.target.Host, "%")
			config.ServerName = strings.TrimSuffix(host, ".")
		}
		c, err := http3.Handshake(ctx, socket, config)
		switch {
		case err == nil:
			return c, nil
		case ctx.Err() != nil:
			return nil, fetch.Timeout.Errorf("no QUIC handshake in time: %w", ctx.Err())
		}
		return nil, handshakeFault(err)
	})
	c, err := h.env.Net.DialContext(within, "udp", addr)
	if err != nil {
		return nil, err
	}
	own := http3Conn(c)
	if own == nil {
		c.Close()
		return nil, fetch.Internal.Errorf("a connection of another protocol")
	}
	state := own.ConnectionState()
	return &h3conn{Conn: own, net: c, tls: &state}, nil
}

// http3Conn returns the http3.Conn that a connection of fetch.Net wraps.
func http3Conn(c net.Conn) *http3.Conn {
	for c != nil {
		if own, ok := c.(*http3.Conn); ok {
			return own
		}
		below, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		c = below.NetConn()
	}
	return nil
}

// handshakeFault classifies an error of a QUIC handshake.
func handshakeFault(err error) error {
	var secure *http3.TLSError
	if !errors.As(err, &secure) {
		if fetch.FaultOf(err) == fetch.Internal {
			return fetch.Connect.With(err)
		}
		return err
	}
	if f := fetch.FaultOf(secure.Err); f != fetch.Internal {
		return f.With(err)
	}
	return fetch.TLS.With(err)
}

// exchange sends a request on a connection and reads the head of its response.
func (h *h3) exchange(ctx context.Context, c *h3conn, req *fetch.Request, wr *wireRequest, addr string) (*exchange, error) {
	fields := wr.http3Fields(addr)
	head := headTrace{trace: req.Trace, proto: "HTTP/3"}
	for _, f := range fields {
		head.add(f.Name, []string{f.Value})
	}
	head.report()
	sent := func() { req.Trace.Reached(trace.RequestSent, c.net) }
	resp, err := c.RoundTrip(ctx, fields, firstByteTime(h.env.Idle), sent, func() { h.pool.put(c) })
	if err != nil {
		return nil, err
	}
	req.Trace.Reached(trace.FirstByte, c.net)
	x := &exchange{trace: req.Trace, conn: c.net, tls: c.tls, proto: "HTTP/3", code: resp.Status, length: resp.Length}
	x.header = fromHTTP3(resp.Header)
	x.head = http1Head(x)
	x.trailer = func() fetch.Header { return fromHTTP3(resp.Body.Trailer()) }
	x.body = &h3body{body: resp.Body, ctx: ctx, trace: req.Trace}
	reportResponse(req.Trace, x)
	return x, nil
}

// http3Fields returns the header section of a request (RFC 9114 section 4.3.1).
func (wr *wireRequest) http3Fields(addr string) []http3.Field {
	fields := []http3.Field{
		{Name: ":method", Value: wr.method}, {Name: ":scheme", Value: wr.target.Scheme},
		{Name: ":authority", Value: wr.host}, {Name: ":path", Value: wr.path + wr.query},
	}
	for _, f := range wr.header {
		fields = append(fields, http3.Field{Name: strings.ToLower(f.Name), Value: f.Value})
	}
	if addr != wr.address { // RFC 7838 section 5
		fields = append(fields, http3.Field{Name: "alt-used", Value: addr})
	}
	return fields
}

// fromHTTP3 converts fields to a Header with the names of HTTP/1.
func fromHTTP3(fields []http3.Field) (h fetch.Header) {
	for _, f := range fields {
		h = append(h, fetch.Field{Name: textproto.CanonicalMIMEHeaderKey(f.Name), Value: f.Value})
	}
	return h
}

// An h3body is the body of an HTTP/3 response.
type h3body struct {
	body  *http3.Body
	ctx   context.Context
	trace *trace.Trace
}

func (b *h3body) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if b.trace != nil && b.trace.Received != nil && n > 0 {
		b.trace.Received(p[:n])
	}
	if err != nil && err != io.EOF {
		err = h3Fault(b.ctx, err, fetch.Truncated)
	}
	return n, err
}

// Close closes the body. Close may be called during a Read.
func (b *h3body) Close() error { return b.body.Close() }

// h3Fault classifies an error of a request. The Fault lost is used for a lost
// connection.
func h3Fault(ctx context.Context, err error, lost fetch.Fault) error {
	if cause := context.Cause(ctx); cause != nil {
		return fetch.FaultOf(cause).With(cause)
	}
	var violation *http3.Error
	switch f := fetch.FaultOf(err); {
	case errors.As(err, &violation) && violation.TooLarge:
		return fetch.TooLarge.With(err)
	case errors.As(err, &violation) && violation.Truncated:
		return fetch.Truncated.With(err)
	case errors.As(err, &violation):
		return fetch.Protocol.With(err)
	case f == fetch.Timeout:
		return f.Errorf("no response: %w", err)
	case f != fetch.Internal && f != fetch.Connect:
		return f.With(err)
	}
	return lost.With(err)
}
