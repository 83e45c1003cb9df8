package gateway

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/web"
	"github.com/anyurl/fetch/warc"
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

// maxLocal is the maximum number of open connections of a server that is not
// public. All its clients have the same address.
const maxLocal = 512

// Serve answers requests on l until ctx ends, with a [Handler] for o. If
// o.Address is nil, it is the address of l. Serve opens the archives that have a
// Path and no Source, and closes them at the end. It closes l in any case. The
// error is nil if ctx has ended and no request was running.
func Serve(ctx context.Context, l net.Listener, o Options) (err error) {
	defer func() { err = errors.Join(err, ignoreClosed(l.Close())) }()
	if o.Address == nil {
		o.Address = l.Addr()
	}
	o.Archives = slices.Clone(o.Archives)
	for i, a := range o.Archives {
		if a.Source != nil || a.Path == "" {
			continue
		}
		source, err := warc.Open(a.Path)
		if err != nil {
			return err
		}
		defer source.Close()
		o.Archives[i].Source = source
	}
	h, err := New(o)
	if err != nil {
		return err
	}
	return errors.Join(h.Serve(ctx, l, 0), h.Close())
}

// ignoreClosed returns err unless it means that a listener was closed before.
func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Serve answers requests on l until ctx ends. It then closes l and waits at
// most for the duration grace until the running requests have finished. The
// remaining connections are closed. The error is nil if all requests finished.
func (h *Handler) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	s := web.Server{Handler: h, Admit: h.admitConn, ErrorLog: h.errorLog}
	return s.Serve(ctx, l, grace)
}
