// Package h3 lets the scheme https use HTTP/3 (RFC 9114). It is not part of
// package http, so that other programs do not link QUIC:
//
//	options := http.Options{HTTP3: h3.New(h3.Options{})}
package h3

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"slices"
	"time"

	"github.com/anyurl/fetch/internal/wire/http3"
	"github.com/anyurl/fetch/internal/wire/http3/message"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/altsvc"
)

// A Mode selects the https requests that use HTTP/3.
type Mode uint8

const (
	// Race tries HTTP/3 at the address of the URL and at the addresses in
	// Options.AltSvc. After HeadStart, or if HTTP/3 fails, it also opens a TCP
	// connection. The request uses the first connection that is established, and
	// the other attempt is canceled.
	Race Mode = iota
	// Advertised is like Race, but tries HTTP/3 only at the addresses in
	// Options.AltSvc.
	Advertised
	// Only never uses TCP for https. Requests fail if HTTP/3 cannot be used, also
	// those that need a proxy or HTTP/1.1, and those that have a body.
	Only
)

// Options contains the settings of HTTP/3. The zero value is valid.
type Options struct {
	Mode Mode

	// AltSvc contains the addresses at which servers offer HTTP/3. It may be nil.
	// The caller adds AltSvc.Middleware to the Client if responses should change
	// it.
	AltSvc *altsvc.Store

	// Discover returns other addresses (host:port) at which a server offers
	// HTTP/3, for example from its HTTPS records in DNS. Like the addresses in
	// AltSvc, they count as supplied by the server. Discover is not called in the
	// mode Advertised. Its context ends after half a second. It may be nil.
	Discover func(ctx context.Context, host string, port uint16) []string

	// HeadStart is the time after which the mode Race and the mode Advertised also
	// try TCP; 0 means 200 ms.
	HeadStart time.Duration
}

// discoverTime is the maximum time for Options.Discover.
const discoverTime = 500 * time.Millisecond

// New returns the value of [http.Options.HTTP3] with the settings o. It opens no
// connection. Several schemes and Clients can use it at the same time.
//
// HTTP/3 is not used through proxies, for requests whose Trace receives the sent
// or received bytes, and for requests that need HTTP/1.1.
func New(o Options) http.HTTP3 { return transport{o} }

type transport struct{ options Options }

func (t transport) Only() bool { return t.options.Mode == Only }

func (t transport) HeadStart() time.Duration {
	return cmp.Or(t.options.HeadStart, 200*time.Millisecond)
}

func (t transport) Addresses(ctx context.Context, host string, port uint16, own string) (all []string) {
	if t.options.AltSvc != nil {
		for _, s := range t.options.AltSvc.Lookup(host, port) {
			all = append(all, s.Address())
		}
	}
	if discover := t.options.Discover; discover != nil && t.options.Mode != Advertised {
		ctx, cancel := context.WithTimeout(ctx, discoverTime)
		defer cancel()
		for _, addr := range discover(ctx, host, port) {
			if !slices.Contains(all, addr) {
				all = append(all, addr)
			}
		}
	}
	if t.options.Mode != Advertised && !slices.Contains(all, own) {
		all = append(all, own)
	}
	return all
}

func (t transport) Handshake(ctx context.Context, socket net.Conn, config *tls.Config) (message.Conn, error) {
	c, err := http3.Handshake(ctx, socket, config)
	if err != nil {
		return nil, err
	}
	return c, nil
}
