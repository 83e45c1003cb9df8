// Package hsts remembers the hosts that require https (RFC 6797, HTTP Strict
// Transport Security).
package hsts

import (
	"context"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A Store contains the hosts that require https. Its method Upgrade is a value
// for [fetch.Options.Upgrade], and its method Middleware learns hosts from
// responses. A Store is safe for concurrent use. The zero value is empty.
type Store struct {
	Now func() time.Time // nil means time.Now

	mu      sync.Mutex
	hosts   map[string]entry
	learned map[string]entry // the hosts that responses have changed
}

// An entry describes how long a host requires https. An entry without a time
// has been removed.
type entry struct {
	subdomains bool // also for the names below the host
	expires    time.Time
}

// join returns the stricter combination of two entries of the same host.
func (e entry) join(other entry) entry {
	e.subdomains = e.subdomains || other.subdomains
	if e.expires.Before(other.expires) {
		e.expires = other.expires
	}
	return e
}

// maxLearned is the maximum number of hosts that responses change. A server can
// add one host for each name that it has a certificate for.
const maxLearned = 10_000

// maxAge is the longest time for which a response can require https.
const maxAge = 10 * 365 * 24 * time.Hour

// Upgrade returns the URL u with the scheme https if it has the scheme http and
// its host requires https. In the same way, dav becomes davs. Otherwise it
// returns u. The port 80 becomes 443, and other ports are kept (RFC 6797 section
// 8.3).
func (s *Store) Upgrade(u uri.URI) uri.URI {
	web := u.Scheme() == "http" || u.Scheme() == "dav"
	if !web || u.HostKind() != uri.RegName || !s.requires(canonical(u.Host())) {
		return u
	}
	parts := u.Parts()
	parts.Scheme += "s"
	if strings.TrimLeft(parts.Port, "0") == "80" {
		parts.Port, parts.HasPort = "", false
	}
	secure, err := uri.Build(parts)
	if err != nil {
		return u
	}
	return secure
}

// requires reports whether a host, or a domain above it that includes its
// subdomains, requires https.
func (s *Store) requires(host string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for name := host; name != ""; _, name, _ = strings.Cut(name, ".") {
		if e := s.hosts[name]; now.Before(e.expires) && (name == host || e.subdomains) {
			return true
		}
	}
	return false
}

func (s *Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

// Middleware stores the hosts whose responses require https. It ignores the
// responses of plaintext connections, of servers whose certificate was not
// verified, and of numeric addresses (RFC 6797 section 8.1). It also ignores those
// of gateways, whose certificates do not belong to the host of the URL.
func (s *Store) Middleware(next fetch.Driver) fetch.Driver {
	return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		resp, err := next.Do(ctx, req)
		if err != nil || req.URL.Scheme() != "https" || req.Scheme().Gateway || req.URL.HostKind() != uri.RegName ||
			resp.TLS == nil || len(resp.TLS.VerifiedChains) == 0 {
			return resp, err
		}
		if values := resp.Header.Values("Strict-Transport-Security"); len(values) > 0 { // only the first field counts
			s.learn(canonical(req.URL.Host()), values[0])
		}
		return resp, err
	})
}

// learn stores the value of a Strict-Transport-Security field.
func (s *Store) learn(host, value string) {
	age, subdomains, ok := parse(value)
	if !ok || host == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := entry{subdomains: subdomains}
	if age > 0 {
		e.expires = s.now().Add(age)
	}
	if s.learned == nil {
		s.learned = map[string]entry{}
	}
	if _, known := s.learned[host]; known || len(s.learned) < maxLearned {
		s.learned[host] = e
		s.put(host, e)
	}
}

// isLearned reports whether a response has changed a host. The caller must hold
// s.mu.
func (s *Store) isLearned(host string) bool {
	_, ok := s.learned[host]
	return ok
}

// put adds or replaces a host. The caller must hold s.mu.
func (s *Store) put(host string, e entry) {
	if s.hosts == nil {
		s.hosts = map[string]entry{}
	}
	if e.expires.IsZero() {
		delete(s.hosts, host)
		return
	}
	s.hosts[host] = e
}

// parse parses the value of a Strict-Transport-Security field (RFC 6797 section
// 6.1). It returns false if the value has no max-age, or a directive twice.
func parse(value string) (age time.Duration, subdomains, ok bool) {
	seen := map[string]bool{}
	for directive := range strings.SplitSeq(value, ";") {
		name, argument, _ := strings.Cut(directive, "=")
		name = strings.ToLower(strings.Trim(name, " \t"))
		if name == "" {
			continue
		}
		if seen[name] || len(seen) > 16 {
			return 0, false, false
		}
		seen[name] = true
		switch name {
		case "max-age":
			if age, ok = parseAge(strings.Trim(argument, " \t")); !ok {
				return 0, false, false
			}
		case "includesubdomains":
			subdomains = true
		}
	}
	return age, subdomains, ok
}

// parseAge parses a number of seconds, which may be quoted.
func parseAge(text string) (time.Duration, bool) {
	if len(text) > 1 && text[0] == '"' && text[len(text)-1] == '"' {
		text = text[1 : len(text)-1]
	}
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if limit := int64(maxAge / time.Second); err != nil || n > limit { // too large for an int64
		n = limit
	}
	return time.Duration(n) * time.Second, true
}

// canonical returns the name under which a host is stored, or "" for a host
// that cannot require https.
func canonical(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if _, err := netip.ParseAddr(host); err == nil || len(host) > 253 || strings.ContainsAny(host, " \t\"[]") || strings.Contains("."+host+".", "..") {
		return ""
	}
	return host
}
