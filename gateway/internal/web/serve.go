// Package web contains the parts that the HTTP servers of the gateway share.
package web

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/connlimit"
)

// Limits of a server for each connection and request.
const (
	MaxHeader      = 64 << 10         // bytes of a request header
	headerTimeout  = 10 * time.Second // time to receive the header
	idleTimeout    = time.Minute      // time between two requests of a connection
	RequestTimeout = 10 * time.Minute // time for a request, including the transfer of the response
	StallTimeout   = time.Minute      // time in which a client must read some of the response
)

// A Server answers the requests of the connections that Admit permits.
type Server struct {
	Handler  http.Handler
	Admit    func(net.Conn) (release func(), ok bool) // counts a connection
	ErrorLog *log.Logger                              // or nil for package log
}

// Serve answers requests on l until ctx ends. It then closes l and waits at
// most for the duration grace until the running requests have finished. The
// remaining connections are closed. The error is nil if all requests finished.
func (s *Server) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	l = &connlimit.Listener{Listener: l, Admit: s.Admit, Stall: StallTimeout}
	server := &http.Server{
		Handler: s.Handler, MaxHeaderBytes: MaxHeader, ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout,
		WriteTimeout: RequestTimeout, IdleTimeout: idleTimeout, ErrorLog: s.ErrorLog,
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
