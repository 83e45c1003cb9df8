// Package doh resolves host names with DNS over HTTPS (RFC 8484).
package doh

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"net/netip"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// OverrideTLS is the [override.Kind] for a DNS server whose certificate is not
// trusted. The TLS settings of the Client that uses the Resolver do not apply.
const OverrideTLS override.Kind = "doh.Options.TLS"

// Options configures a Resolver.
type Options struct {
	URL      string         // of the DNS server, such as https://dns.example.org/dns-query
	TLS      *tls.Config    // for the connections to the server; nil means the defaults
	Resolver fetch.Resolver // resolves the name of the server; nil means fetch.SystemResolver
	Policy   fetch.Policy   // Blocked, Ports and the time limits are used

	// LocalAddrs are the local addresses of the connections to the server, as
	// fetch.Options.LocalAddrs.
	LocalAddrs []netip.Addr
}

// A Resolver is a [fetch.Resolver] that sends queries to one server. It has its
// own Client, which connects only to this server. The addresses in the answers
// are data: the Policy of the Client that uses the Resolver checks each of them.
// A Resolver is safe for concurrent use.
type Resolver struct {
	client *fetch.Client
	url    uri.URI

	done    context.Context // ends when the Resolver is closed
	close   context.CancelFunc
	lookups sync.WaitGroup // running lookups of HTTPS records

	mu    sync.Mutex
	known map[string]*known // by host and port
	kept  int               // bytes of the services in known, and of those that were replaced
}

// Limits for answers.
const (
	maxAnswer  = 64 << 10 // bytes, as in DNS over TCP
	maxRecords = 256      // records of an answer that are read
	maxAliases = 16       // length of a chain of CNAME records
)

// New returns a Resolver. The error has the Fault Usage if the URL is not an
// https URL. The caller closes the Resolver.
func New(o Options) (*Resolver, error) {
	u, err := uri.Parse(o.URL)
	if err != nil || u.Scheme() != "https" || u.Host() == "" {
		return nil, fetch.Usage.Errorf("the URL of the DNS server is not an https URL") // the text may contain a password
	}
	p := fetch.Allowlist(strings.TrimSuffix(strings.Trim(u.Host(), "[]"), "."))
	p.Blocked, p.Ports, p.Connect, p.Idle = o.Policy.Blocked, o.Policy.Ports, o.Policy.Connect, o.Policy.Idle
	p.MaxHops, p.MaxBody = -1, maxAnswer
	client := fetch.New(fetch.Options{Policy: p, TLS: o.TLS, Resolver: o.Resolver, LocalAddrs: o.LocalAddrs}, http.Schemes(http.Options{})...)
	r := &Resolver{client: client, url: u}
	r.done, r.close = context.WithCancel(context.Background())
	return r, nil
}

// Close ends the lookups of HTTPS records and closes the connections to the
// server.
func (r *Resolver) Close() error {
	r.mu.Lock()
	r.close() // no lookup starts after it
	r.mu.Unlock()
	r.lookups.Wait()
	return r.client.Close()
}

// LookupNetIP returns the addresses of a host. The network is "ip", "ip4" or
// "ip6". The error has the Fault DNS. If the server could not be reached, or
// cannot respond now, it has the Fault of the request to the server.
func (r *Resolver) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if isLocalhost(host) {
		return localhost(network), nil
	}
	name, err := dnsmessage.NewName(strings.TrimSuffix(host, ".") + ".")
	if err != nil {
		return nil, fetch.DNS.Errorf("%s is too long for a name in DNS", host)
	}
	type result struct {
		addrs []netip.Addr
		err   error
	}
	var pending []chan result
	for _, kind := range kinds(network) {
		done := make(chan result, 1)
		go func() {
			addrs, err := r.lookup(ctx, name, kind)
			done <- result{addrs, err}
		}()
		pending = append(pending, done)
	}
	var all []netip.Addr
	var failed error
	for _, done := range pending {
		got := <-done
		all = append(all, got.addrs...)
		if failed == nil {
			failed = got.err
		}
	}
	switch {
	case len(all) > 0:
		return all, nil
	case failed != nil:
		return nil, failed
	}
	return nil, fetch.DNS.Errorf("%s has no address", host)
}

// isLocalhost reports whether a name belongs to this machine. Such names are not
// sent to a DNS server (RFC 6761 section 6.3).
func isLocalhost(name string) bool {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

func localhost(network string) []netip.Addr {
	v4, v6 := netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()
	switch network {
	case "ip4":
		return []netip.Addr{v4}
	case "ip6":
		return []netip.Addr{v6}
	}
	return []netip.Addr{v4, v6}
}

// kinds returns the types of the records to query.
func kinds(network string) []dnsmessage.Type {
	switch network {
	case "ip4":
		return []dnsmessage.Type{dnsmessage.TypeA}
	case "ip6":
		return []dnsmessage.Type{dnsmessage.TypeAAAA}
	}
	return []dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA}
}

func (r *Resolver) lookup(ctx context.Context, name dnsmessage.Name, kind dnsmessage.Type) ([]netip.Addr, error) {
	answer, err := r.exchange(ctx, name, kind)
	if err != nil {
		return nil, err
	}
	return parse(answer, name, kind)
}

// exchange sends a query and returns the answer. It uses GET, whose URL has the
// query, and the identifier 0, so that caches can store the answer.
func (r *Resolver) exchange(ctx context.Context, name dnsmessage.Name, kind dnsmessage.Type) ([]byte, error) {
	query := dnsmessage.Message{
		Header:    dnsmessage.Header{RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: name, Type: kind, Class: dnsmessage.ClassINET}},
	}
	packed, err := query.Pack()
	if err != nil {
		return nil, fetch.DNS.With(err)
	}
	parts := r.url.Parts()
	if parts.HasQuery && parts.Query != "" {
		parts.Query += "&"
	}
	parts.Query, parts.HasQuery = parts.Query+"dns="+base64.RawURLEncoding.EncodeToString(packed), true
	u, err := uri.Build(parts)
	if err != nil {
		return nil, fetch.DNS.With(err)
	}
	ctx, end := detach(ctx)
	defer end()
	const media = "application/dns-message"
	resp, err := r.client.Do(ctx, &fetch.Request{URL: u, Header: fetch.Header{{Name: "Accept", Value: media}}})
	if err != nil {
		return nil, lookupError(name, err)
	}
	defer resp.Body.Close()
	if resp.Media != media {
		return nil, fetch.DNS.Errorf("the DNS server sent no DNS message for %s", name)
	}
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, lookupError(name, err)
	}
	return answer, nil
}

// detach returns a context that ends with ctx and has none of its values. The
// values, such as an httptrace.ClientTrace, belong to the request that needs an
// address. The caller calls end after the query.
func detach(ctx context.Context) (own context.Context, end func()) {
	own, cancel := context.WithCancelCause(context.Background())
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	return own, func() { stop(); cancel(nil) }
}

// lookupError adds the name to the error of a request to the DNS server. The
// caller must not mistake the status of this server for the status of an object,
// so that such an error has the Fault DNS or TryLater, and no code.
func lookupError(name dnsmessage.Name, err error) error {
	const format = "DNS over HTTPS for %s: "
	switch f := fetch.FaultOf(err); f {
	case fetch.Auth, fetch.Denied, fetch.NotFound, fetch.Loop, fetch.TooLarge:
		return fetch.DNS.Errorf(format+"%v", name, err)
	case fetch.BadAddress: // no setting allows the address
		return f.Errorf(format+"%v", name, err)
	case fetch.TryLater:
		later := &fetch.Error{Err: f.Errorf(format+"%v", name, err)}
		if e, ok := errors.AsType[*fetch.Error](err); ok {
			later.RetryAfter = e.RetryAfter
		}
		return later
	default:
		own := f.Errorf(format+"%w", name, err)
		if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
			own = override.With(own, override.Setting{Kind: OverrideTLS})
		}
		return own
	}
}
