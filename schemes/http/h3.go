package http

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/datagram"
	"github.com/anyurl/fetch/internal/wire/http3/message"
)

// An h3 sends HTTP/3 requests.
type h3 struct {
	env       fetch.Env
	ech       *ECH
	transport HTTP3 // nil if HTTP/3 is not used
	tcp       func(ctx context.Context, netKey, addr string) (*tcpConn, error)
	pool      h3pool
	dead      deadAddresses
}

// errNoHTTP3 means that the request must be sent over TCP.
var errNoHTTP3 = errors.New("no server with HTTP/3")

// only reports whether requests must not use TCP.
func (h *h3) only() bool { return h.transport != nil && h.transport.Only() }

// send sends a request over HTTP/3. It returns errNoHTTP3 if the request must be
// sent over TCP, together with the TCP connection if it has opened one.
//
// If the connection is closed before the server has processed the request, or
// has no stream for it, send opens another one. A repeatable request is also sent
// again if an idle connection was lost. An address at which no response arrives is
// not used again for a while, so that the next attempt uses another address or TCP.
func (h *h3) send(ctx context.Context, netKey string, req *fetch.Request, wr *wireRequest) (*exchange, *tcpConn, error) {
	switch { // package http3 sends no bodies
	case h.only() && wr.hasBody():
		return nil, nil, fetch.Unsupported.Errorf("HTTP/3 cannot be used for a request with a body")
	case h.transport == nil || wr.hasBody():
		return nil, nil, errNoHTTP3
	}
	again := false
	for addrs := h.addresses(ctx, wr); len(addrs) > 0; req.Trace.Restarted() {
		c, reused, tcp, err := h.connect(ctx, netKey, req.Trace, wr, addrs)
		if errors.Is(err, errNoHTTP3) {
			return nil, tcp, err
		}
		if err != nil {
			return nil, nil, requestFault(ctx, err)
		}
		x, err := h.exchange(ctx, c, req, wr)
		var lost *message.LostError
		switch {
		case err == nil && x.code == http.StatusMisdirectedRequest && c.addr != wr.address: // RFC 7838 section 6
			x.body.Close()
			h.dead.mark(wr.address, c.addr)
			addrs = slices.DeleteFunc(addrs, func(addr string) bool { return addr == c.addr })
		case err == nil:
			return x, nil, nil
		case errors.Is(err, message.ErrFull) && h.pool.limit(c):
		case !again && (isUnsent(err) || reused && wr.isRepeatable() && errors.As(err, &lost) && !lost.Reset):
			again = true
		case !h.only() && isUnsent(err) && ctx.Err() == nil:
			h.dead.mark(wr.address, c.addr)
			addrs = slices.DeleteFunc(addrs, func(addr string) bool { return addr == c.addr })
		default:
			if ctx.Err() == nil && (fetch.FaultOf(err) == fetch.Timeout || errors.As(err, &lost) && !lost.Reset) {
				h.dead.mark(wr.address, c.addr)
			}
			return nil, nil, h3Fault(ctx, err, fetch.Connect)
		}
	}
	if h.only() {
		return nil, nil, fetch.Unsupported.Errorf("no server with HTTP/3 for this request")
	}
	return nil, nil, errNoHTTP3
}

// isUnsent reports whether the server has not processed a request.
func isUnsent(err error) bool {
	return errors.Is(err, message.ErrUnsent) || errors.Is(err, message.ErrFull)
}

// addresses returns the addresses at which HTTP/3 is tried.
func (h *h3) addresses(ctx context.Context, wr *wireRequest) []string {
	all := h.transport.Addresses(ctx, wr.target.Host, wr.target.Port, wr.address)
	if c := h.env.TLS; c != nil && c.InsecureSkipVerify { // an alternative needs a verified certificate (RFC 7838 section 2.1)
		all = slices.DeleteFunc(all, func(addr string) bool { return !sameHost(addr, wr.address) })
	}
	if h.only() {
		return all
	}
	return slices.DeleteFunc(all, func(addr string) bool { return h.dead.has(wr.address, addr) })
}

// connect returns a connection to one of addrs. It returns errNoHTTP3, and
// perhaps a TCP connection, if the request must be sent over TCP.
func (h *h3) connect(
	ctx context.Context, netKey string, t *trace.Trace, wr *wireRequest, addrs []string,
) (c *h3conn, reused bool, tcp *tcpConn, err error) {
	key := netKey + "\x00" + wr.address
	c, reused, err = h.pool.get(ctx, key, addrs, func() (c *h3conn, err error) {
		if h.only() {
			return h.dialFirst(ctx, wr, addrs)
		}
		c, tcp, err = h.race(ctx, netKey, t, wr, addrs)
		return c, err
	})
	switch {
	case err != nil:
	case reused:
		reportReused(t, c.net)
	default:
		t.Reached(trace.Secured, c.net)
	}
	return c, reused, tcp, err
}

// dial opens a connection to addr, which authenticates as the host of the URL. It
// calls begun when the name of the server was resolved.
func (h *h3) dial(ctx context.Context, wr *wireRequest, addr string, begun func()) (*h3conn, error) {
	var once sync.Once
	var a *echAttempt // nil until a socket is open, so that no query names a server behind a proxy
	var failed error
	setting := func() (*tls.Config, error) {
		once.Do(func() { a, failed = h.ech.newAttempt(ctx, h.env.TLS, wr.target.Host, wr.target.Port, addr, true) })
		if failed != nil {
			return nil, failed
		}
		return a.config, nil
	}
	for {
		c, err := h.dialWith(ctx, setting, wr, addr, begun)
		if err == nil || a == nil || !a.retries(err) {
			return c, err
		}
	}
}

// dialWith is like dial. For each socket, it calls setting, which returns the TLS
// configuration.
func (h *h3) dialWith(
	ctx context.Context, setting func() (*tls.Config, error), wr *wireRequest, addr string, begun func(),
) (*h3conn, error) {
	within := datagram.With(ctx, wr.address, func(ctx context.Context, socket net.Conn) (net.Conn, error) {
		begun()
		config, err := setting()
		if err != nil {
			socket.Close()
			return nil, err
		}
		if config = config.Clone(); config == nil {
			config = &tls.Config{}
		}
		if config.ServerName == "" {
			host, _, _ := strings.Cut(wr.target.Host, "%")
			config.ServerName = strings.TrimSuffix(host, ".")
		}
		if datagram.IsAnonymous(ctx) {
			config.Certificates, config.GetClientCertificate, config.ClientSessionCache = nil, nil, nil
		}
		c, err := h.transport.Handshake(ctx, socket, config)
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
	return &h3conn{Conn: own, net: c, tls: &state, addr: addr}, nil
}

// http3Conn returns the message.Conn that a connection of fetch.Net wraps.
func http3Conn(c net.Conn) message.Conn {
	for c != nil {
		if own, ok := c.(message.Conn); ok {
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
	var secure *message.TLSError
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
func (h *h3) exchange(ctx context.Context, c *h3conn, req *fetch.Request, wr *wireRequest) (*exchange, error) {
	fields := wr.http3Fields(c.addr)
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
func (wr *wireRequest) http3Fields(addr string) []message.Field {
	fields := []message.Field{
		{Name: ":method", Value: wr.method}, {Name: ":scheme", Value: wr.target.Scheme},
		{Name: ":authority", Value: wr.host}, {Name: ":path", Value: wr.path + wr.query},
	}
	for _, f := range wr.header {
		fields = append(fields, message.Field{Name: strings.ToLower(f.Name), Value: f.Value})
	}
	if addr != wr.address { // RFC 7838 section 5
		fields = append(fields, message.Field{Name: "alt-used", Value: addr})
	}
	return fields
}

// fromHTTP3 converts fields to a Header with the names of HTTP/1.
func fromHTTP3(fields []message.Field) (h fetch.Header) {
	for _, f := range fields {
		h = append(h, fetch.Field{Name: textproto.CanonicalMIMEHeaderKey(f.Name), Value: f.Value})
	}
	return h
}

// An h3body is the body of an HTTP/3 response.
type h3body struct {
	body  message.Body
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
	var violation *message.Error
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
