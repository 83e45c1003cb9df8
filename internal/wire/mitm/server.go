// Package mitm implements an HTTP proxy that decrypts https. It passes each
// request of a client to an http.Handler, which answers it from the network or
// from an archive.
package mitm

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/anyurl/fetch/internal/base/connlimit"
)

// A Server is a proxy for http and https. The fields CA and Handler are
// required. The zero value of all other fields is ready to use. The fields must
// not be changed after the first call of Serve.
type Server struct {
	CA *CA

	// Handler answers the requests for URLs. The field RequestURI of a request is
	// the absolute URL as the client sent it, and URL is its parsed form. The
	// request has no fields that apply only to the connection or the proxy.
	Handler http.Handler

	// Own answers the requests for the proxy itself, for example when a user
	// enters its address. If Own is nil, they receive an error page.
	Own http.Handler

	// Authorize reports whether a client may use the proxy. Otherwise the proxy
	// answers with status 407. The function is called for each CONNECT and for
	// each request outside of a tunnel. If it is nil, all clients may.
	Authorize func(*http.Request) bool

	// Tunnel is called before a tunnel is opened. The address of the server is
	// the field Host of the request. If Tunnel returns an error, the client
	// receives it in an error page. If Tunnel is nil, all tunnels are permitted.
	Tunnel func(*http.Request) error

	// Refused is called for each request that the Server itself refuses, such as
	// a WebSocket. It may be nil.
	Refused func(r *http.Request, reason string)

	// ErrorLog receives messages about failed connections and panics. If it is
	// nil, package log prints them.
	ErrorLog *log.Logger

	// MaxConns is the maximum number of open connections of all clients, or 0
	// for 256.
	MaxConns int

	// MaxClient is the maximum number of open connections of a client, and of its
	// requests that the Handler answers at the same time, or 0 for no such limit.
	// Further requests wait. A client is an address, as in package connlimit.
	MaxClient int

	// MaxRequests is the maximum number of requests that the Handler answers at
	// the same time, or 0 for 256. Further requests wait.
	MaxRequests int
}

// Limits of the server for each connection and request.
const (
	maxHeader     = 256 << 10        // bytes of a request header
	headerTimeout = 10 * time.Second // time to receive a header, and for the TLS handshake
	idleTimeout   = time.Minute      // time between two requests of a connection
	stallTimeout  = time.Minute      // time in which a client must read some of the response
	maxStreams    = 100              // requests that run at the same time on an HTTP/2 connection
	streamBuffer  = 256 << 10        // bytes of request bodies that an HTTP/2 connection buffers
)

// A running is a Server that serves a listener.
type running struct {
	*Server
	ctx      context.Context
	tunnels  *tunnelListener
	opening  sync.WaitGroup // tunnels whose client has not sent a byte yet
	tls      *tls.Config
	requests *requestLimit
}

// run returns a running server for s.
func (s *Server) run(ctx context.Context, addr net.Addr) *running {
	return &running{Server: s, ctx: ctx, tunnels: newTunnelListener(addr), requests: newRequestLimit(orDefault(s.MaxRequests), s.MaxClient)}
}

// orDefault returns n, or 256 if n is not positive.
func orDefault(n int) int {
	if n <= 0 {
		return 256
	}
	return n
}

// Serve answers requests on l until ctx ends. It then closes l and waits at most
// for the duration grace until the running requests have finished. The remaining
// connections are closed. The error is nil if all requests finished.
func (s *Server) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	total := orDefault(s.MaxConns)
	table := &connlimit.Table{PerClient: cmp.Or(s.MaxClient, total), Total: total}
	x := s.run(ctx, l.Addr())
	x.tls = &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			t, ok := hello.Conn.(*tunnel)
			if !ok {
				return nil, errors.New("not a tunnel")
			}
			return s.CA.certificate(t.host, time.Now())
		},
	}
	outer, inner := x.server(http.HandlerFunc(x.serveOuter)), x.server(http.HandlerFunc(x.serveInner))
	inner.ConnContext = withTunnel
	stopped := make(chan error, 2)
	go func() { stopped <- inner.Serve(x.tunnels) }()
	go func() {
		stopped <- outer.Serve(&connlimit.Listener{Listener: l, Admit: table.Admit, Stall: stallTimeout})
	}()
	var failed error
	select {
	case failed = <-stopped: // the listener failed
	case <-ctx.Done():
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	late := shutdown(limited, outer, inner)
	x.opening.Wait()
	switch {
	case failed != nil && ctx.Err() == nil:
		return failed
	case late != nil:
		return fmt.Errorf("some requests did not finish within %v: %w", grace, late)
	}
	return nil
}

// shutdown ends servers at the same time. It closes the connections that are
// open when ctx ends.
func shutdown(ctx context.Context, servers ...*http.Server) error {
	errs := make([]error, len(servers))
	var group sync.WaitGroup
	for i, server := range servers {
		group.Go(func() {
			if errs[i] = server.Shutdown(ctx); errs[i] != nil {
				errs[i] = errors.Join(errs[i], server.Close())
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

func (x *running) server(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, MaxHeaderBytes: maxHeader, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		ErrorLog: x.ErrorLog, DisableGeneralOptionsHandler: true,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxStreams, MaxReceiveBufferPerConnection: streamBuffer,
			MaxReceiveBufferPerStream: streamBuffer,
		},
	}
}
