package doh

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/anyurl/fetch/fetch"
)

// A Service is an endpoint of an https origin in an HTTPS record (RFC 9460).
type Service struct {
	Host      string   // name of the endpoint
	Port      uint16   // port of the endpoint
	Protocols []string // ALPN protocols, such as h2 and h3
	ECH       []byte   // ECHConfigList for Encrypted Client Hello (RFC 9848), or nil
}

// HTTP3 reports whether the endpoint supports HTTP/3.
func (s Service) HTTP3() bool { return slices.Contains(s.Protocols, "h3") }

// Limits for HTTPS records.
const (
	maxServices  = 16               // endpoints of an origin that are returned
	maxTargets   = 8                // length of a chain of records in AliasMode
	maxProtocols = 32               // protocols of an endpoint that are read
	maxECH       = 8 << 10          // bytes of an ECHConfigList; longer ones are ignored
	maxKnown     = 1024             // origins whose services are remembered
	maxKept      = 1 << 20          // bytes of all remembered services
	longest      = time.Hour        // time for which services are remembered
	shortest     = 10 * time.Second // the same, also if the lookup failed
	lookupTime   = 3 * time.Second  // limit for the lookup
)

// known are the remembered services of an origin, or a running lookup.
type known struct {
	done     chan struct{} // closed after the lookup, which sets the other fields
	services []Service
	err      error
	until    time.Time
}

// Services returns the endpoints of an https origin that DNS announces in HTTPS
// records (RFC 9460), those with the highest priority first. It returns none if
// there are no such records. The lookup takes at most three seconds. The Resolver
// remembers the result for the time to live of the records, but at most for one
// hour, and an error for ten seconds. If ctx ends earlier, the lookup continues for
// later calls, so that a slow server delays only the first one. There is no lookup
// for localhost and names below it, which have no such records.
func (r *Resolver) Services(ctx context.Context, host string, port uint16) ([]Service, error) {
	if isLocalhost(host) {
		return nil, nil
	}
	k := r.claim(strings.ToLower(strings.TrimSuffix(host, ".")), port)
	select {
	case <-k.done:
		return k.services, k.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// claim returns the remembered services of an origin or a running lookup. If there
// are none, it starts a lookup.
func (r *Resolver) claim(host string, port uint16) *known {
	key := host + ":" + strconv.Itoa(int(port))
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.known[key]; k != nil {
		select {
		case <-k.done:
			if time.Now().Before(k.until) {
				return k
			}
		default:
			return k
		}
	}
	if r.known == nil || len(r.known) >= maxKnown {
		r.forget()
	}
	k := &known{done: make(chan struct{})}
	if r.done.Err() != nil {
		k.err = fetch.Usage.Errorf("the resolver is closed")
		close(k.done)
		return k
	}
	r.known[key] = k
	r.lookups.Go(func() {
		defer close(k.done)
		ctx, cancel := context.WithTimeout(r.done, lookupTime)
		defer cancel()
		owner := host
		if port != 443 { // RFC 9460 section 9.1
			owner = "_" + strconv.Itoa(int(port)) + "._https." + host
		}
		var life time.Duration
		k.services, life, k.err = r.services(ctx, owner, host, port)
		k.until = time.Now().Add(min(max(life, shortest), longest))
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.kept += k.size(); r.kept > maxKept {
			r.forget()
		}
	})
	return k
}

// forget removes all remembered services. The caller must hold r.mu.
func (r *Resolver) forget() { r.known, r.kept = map[string]*known{}, 0 }

// size returns the approximate number of bytes that the services need in memory.
func (k *known) size() int {
	n := 0
	for _, s := range k.services {
		n += 128 + len(s.Host) + len(s.ECH)
		for _, p := range s.Protocols {
			n += 32 + len(p)
		}
	}
	return n
}

// services follows the records in AliasMode from owner to those in ServiceMode.
// The target "." of a record is its owner, or host for the first owner.
func (r *Resolver) services(ctx context.Context, owner, host string, port uint16) ([]Service, time.Duration, error) {
	life := longest
	for range maxTargets {
		name, err := dnsmessage.NewName(owner + ".")
		if err != nil {
			return nil, 0, nil
		}
		answer, err := r.exchange(ctx, name, dnsmessage.TypeHTTPS)
		if err != nil {
			return nil, 0, err
		}
		all, err := parseServices(answer, name)
		if errors.Is(err, errNoName) {
			return nil, 0, nil
		}
		if err != nil {
			return nil, 0, err
		}
		life = min(life, all.life)
		switch {
		case all.alias == "":
			return all.endpoints(host, port), life, nil
		case isLocalhost(all.alias):
			return nil, life, nil
		}
		owner, host = all.alias, all.alias
	}
	return nil, 0, fetch.DNS.Errorf("%s has a loop or too many HTTPS records", owner)
}

// bindings are the HTTPS records of a name.
type bindings struct {
	alias    string // target of the records in AliasMode, without the last dot
	services []dnsmessage.SVCBResource
	life     time.Duration
}

// parseServices returns the HTTPS records in an answer to a query. It follows
// CNAME records within the answer.
func parseServices(answer []byte, name dnsmessage.Name) (*bindings, error) {
	all := &records{kind: dnsmessage.TypeHTTPS, aliases: map[string]string{}, bindings: map[string][]dnsmessage.SVCBResource{}, life: longest}
	if err := all.parse(answer, name); err != nil {
		return nil, err
	}
	at, err := all.end(name.String(), func(owner string) bool { return len(all.bindings[owner]) > 0 })
	if err != nil {
		return nil, err
	}
	found := &bindings{life: all.life}
	for _, b := range all.bindings[at] {
		if target := strings.ToLower(strings.TrimSuffix(b.Target.String(), ".")); b.Priority == 0 && target != "" {
			found.alias = target // RFC 9460 section 2.4.2: records in ServiceMode are then ignored
		} else if b.Priority != 0 {
			found.services = append(found.services, b)
		}
	}
	return found, nil
}

// endpoints returns the endpoints of records in ServiceMode. A record with a
// mandatory parameter that is not supported is ignored (RFC 9460 section 8).
func (b *bindings) endpoints(host string, port uint16) (all []Service) {
	slices.SortStableFunc(b.services, func(a, b dnsmessage.SVCBResource) int { return cmp.Compare(a.Priority, b.Priority) })
	for _, record := range b.services {
		s := Service{Host: strings.ToLower(strings.TrimSuffix(record.Target.String(), ".")), Port: port}
		if s.Host == "" {
			s.Host = host
		}
		if !supported(&record) || len(all) == maxServices {
			continue
		}
		if value, ok := record.GetParam(dnsmessage.SVCParamPort); ok {
			if len(value) != 2 || binary.BigEndian.Uint16(value) == 0 {
				continue
			}
			s.Port = binary.BigEndian.Uint16(value)
		}
		alpn, _ := record.GetParam(dnsmessage.SVCParamALPN)
		s.Protocols = protocols(alpn)
		if _, none := record.GetParam(dnsmessage.SVCParamNoDefaultALPN); !none {
			s.Protocols = append(s.Protocols, "http/1.1")
		}
		if value, _ := record.GetParam(dnsmessage.SVCParamECH); len(value) > 0 && len(value) <= maxECH {
			s.ECH = bytes.Clone(value) // the other parameters can then be freed
		}
		all = append(all, s)
	}
	return all
}

// supported reports whether all mandatory parameters of a record are supported.
func supported(record *dnsmessage.SVCBResource) bool {
	value, _ := record.GetParam(dnsmessage.SVCParamMandatory)
	for ; len(value) >= 2; value = value[2:] {
		switch dnsmessage.SVCParamKey(binary.BigEndian.Uint16(value)) {
		case dnsmessage.SVCParamALPN, dnsmessage.SVCParamNoDefaultALPN, dnsmessage.SVCParamPort,
			dnsmessage.SVCParamIPv4Hint, dnsmessage.SVCParamIPv6Hint, dnsmessage.SVCParamECH:
		default:
			return false
		}
	}
	return len(value) == 0
}

// protocols parses the value of the parameter alpn (RFC 9460 section 7.1.1). A
// malformed value has no protocols.
func protocols(value []byte) (all []string) {
	for len(value) > 0 {
		n := int(value[0])
		if n == 0 || n >= len(value) || len(all) == maxProtocols {
			return nil
		}
		all = append(all, string(value[1:1+n]))
		value = value[1+n:]
	}
	return all
}
