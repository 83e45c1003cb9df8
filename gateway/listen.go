package gateway

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/connlimit"
)

// Listen opens a TCP listener for [Handler.Serve]. The address has the form
// host:port. The host must be localhost or a loopback address. Otherwise the
// error wraps fetch.Usage.
func Listen(address string) (net.Listener, error) { return listen(address, false) }

// ListenPublic opens a TCP listener on any address of this machine, for a
// Handler with Options.Public. An empty host means all addresses.
func ListenPublic(address string) (net.Listener, error) { return listen(address, true) }

func listen(address string, public bool) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fetch.Usage.With(err)
	}
	if host == "localhost" {
		host = "127.0.0.1" // a resolver may return another address
	}
	addr, err := netip.ParseAddr(host)
	switch {
	case err != nil && !(public && host == ""):
		return nil, fetch.Usage.Errorf("cannot listen on %q: the host is not an IP address", address)
	case !public && !addr.IsLoopback():
		return nil, fetch.Usage.Errorf("cannot listen on %q: only a public server listens on other addresses than loopback", address)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fetch.Local.With(err)
	}
	return l, nil
}

// Limits of the server for each connection and request.
const (
	maxHeader      = 64 << 10         // bytes of a request header
	headerTimeout  = 10 * time.Second // time to receive the header
	idleTimeout    = time.Minute      // time between two requests of a connection
	requestTimeout = 10 * time.Minute // time for a request, including the transfer of the response
	stallTimeout   = time.Minute      // time in which a client must read some of the response
)

// maxLocal is the maximum number of open connections of a server that is not
// public. All its clients have the same address.
const maxLocal = 512

// Serve answers requests on l until ctx ends. It then closes l and waits at
// most for the duration grace until the running requests have finished. The
// remaining connections are closed. The error is nil if all requests finished.
func (h *Handler) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	l = &connlimit.Listener{Listener: l, Admit: h.admitConn, Stall: stallTimeout}
	server := &http.Server{
		Handler: h, MaxHeaderBytes: maxHeader, ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout,
		WriteTimeout: requestTimeout, IdleTimeout: idleTimeout, ErrorLog: h.errorLog,
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		err := server.Shutdown(limited)
		if err != nil {
			err = fetch.Timeout.Errorf("some requests did not finish within %v: %w", grace, errors.Join(err, server.Close()))
		}
		stopped <- err
	})
	err := server.Serve(l)
	if stop() { // server.Serve failed before ctx ended
		return fetch.Local.With(err)
	}
	return <-stopped
}
