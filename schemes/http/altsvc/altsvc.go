// Package altsvc remembers the alternative services of servers (RFC 7838), such
// as their addresses for HTTP/3.
package altsvc

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A Service is an alternative service with the protocol HTTP/3.
type Service struct {
	Host    string // lower-case name, or address without brackets
	Port    uint16
	expires time.Time
	persist bool

	from, protocol string // of the origin and of the service, as in a file
}

const h3 = "h3" // the protocol HTTP/3

// Address returns the host and port of the service.
func (s Service) Address() string { return net.JoinHostPort(s.Host, strconv.Itoa(int(s.Port))) }

// A Store contains the alternative services of https origins. It is safe for
// concurrent use. The zero value is empty.
type Store struct {
	Now func() time.Time // nil means time.Now

	mu      sync.Mutex
	origins map[string][]Service // by host and port
	learned map[string]bool      // the origins that responses have changed
}

// Limits of a Store.
const (
	maxLearned  = 10_000 // origins that responses change
	maxServices = 8      // of an origin in a response, and that Lookup returns
	maxField    = 8 << 10
	defaultAge  = 24 * time.Hour // RFC 7838 section 3.1
	maxAge      = 365 * 24 * time.Hour
)

// Lookup returns the alternative services of an https origin with the protocol
// HTTP/3, at most 8.
func (s *Store) Lookup(host string, port uint16) []Service {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	var found []Service
	for _, alternative := range s.origins[originKey(host, port)] {
		if alternative.protocol == h3 && now.Before(alternative.expires) && len(found) < maxServices {
			found = append(found, alternative)
		}
	}
	return found
}

func (s *Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

func originKey(host string, port uint16) string {
	return net.JoinHostPort(strings.TrimSuffix(strings.ToLower(host), "."), strconv.Itoa(int(port)))
}

// Middleware stores the alternative services in the responses of https servers
// whose certificate was verified. It ignores the responses of gateways, whose
// certificates do not belong to the host of the URL.
func (s *Store) Middleware(next fetch.Driver) fetch.Driver {
	return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		resp, err := next.Do(ctx, req)
		if err != nil || req.URL.Scheme() != "https" || req.Scheme().Gateway || resp.TLS == nil || len(resp.TLS.VerifiedChains) == 0 || resp.Code == 421 {
			return resp, err
		}
		if values := resp.Header.Values("Alt-Svc"); len(values) > 0 {
			s.learn(req.URL, strings.Join(values, ","))
		}
		return resp, err
	})
}

// learn stores the value of an Alt-Svc field. It replaces all services of the
// origin.
func (s *Store) learn(u uri.URI, value string) {
	t, err := fetch.TargetOf(u, 443)
	if err != nil || t.Host == "" || t.Addr.Zone() != "" || len(value) > maxField {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	services, ok := parse(value, t.Origin().Host, s.now())
	key := originKey(t.Host, t.Port)
	if !ok || !s.learned[key] && len(s.learned) >= maxLearned {
		return
	}
	if s.learned == nil {
		s.learned = map[string]bool{}
	}
	s.learned[key] = true
	s.put(key, services)
}

// put replaces the services of an origin. The caller must hold s.mu.
func (s *Store) put(key string, services []Service) {
	if len(services) == 0 {
		delete(s.origins, key)
		return
	}
	if s.origins == nil {
		s.origins = map[string][]Service{}
	}
	s.origins[key] = services
}

// parse parses the value of an Alt-Svc field (RFC 7838 section 3). It returns
// the services with the protocol h3. The result ok is false if the value is
// malformed.
func parse(value, host string, now time.Time) (found []Service, ok bool) {
	if strings.Trim(value, " \t;") == "clear" {
		return nil, true
	}
	for value != "" {
		var entry string
		entry, value = cutUnquoted(value, ',')
		if strings.Trim(entry, " \t") == "" {
			continue
		}
		entry, parameters := cutUnquoted(entry, ';')
		protocol, authority, has := strings.Cut(strings.Trim(entry, " \t"), "=")
		service, valid := parseAuthority(authority, host)
		if !has || !valid {
			return nil, false
		}
		age := parseParameters(parameters, &service)
		if protocol != h3 || age <= 0 || len(found) == maxServices {
			continue
		}
		service.expires, service.from, service.protocol = now.Add(age), "h2", h3
		found = append(found, service)
	}
	return found, true
}

// parseParameters sets the persist flag of the service and returns its age.
func parseParameters(text string, to *Service) time.Duration {
	age := defaultAge
	for text != "" {
		var p string
		p, text = cutUnquoted(text, ';')
		name, value, _ := strings.Cut(p, "=")
		value = strings.Trim(strings.Trim(value, " \t"), `"`)
		switch strings.ToLower(strings.Trim(name, " \t")) { // some servers put spaces around the equals sign
		case "ma":
			n, err := strconv.ParseInt(value, 10, 64)
			if limit := int64(maxAge / time.Second); err != nil && strings.Trim(value, "0123456789") == "" || n > limit {
				n = limit
			}
			age = time.Duration(max(n, 0)) * time.Second
		case "persist":
			to.persist = value == "1"
		}
	}
	return age
}

// parseAuthority parses a quoted host and port. An empty host is the one of the
// origin.
func parseAuthority(text, host string) (s Service, ok bool) {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return s, false
	}
	name, port, err := net.SplitHostPort(text[1 : len(text)-1])
	if err != nil {
		return s, false
	}
	if name == "" {
		name = host
	}
	return newService(name, port)
}

// newService returns the service at a host and port. The result ok is false if
// one of them is invalid.
func newService(host, port string) (s Service, ok bool) {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || strings.Trim(port, "0123456789") != "" || strings.ContainsAny(host, "/?#@") {
		return s, false
	}
	u, err := uri.Parse("https://" + net.JoinHostPort(host, port) + "/")
	if err != nil {
		return s, false
	}
	t, err := fetch.TargetOf(u, 443)
	return Service{Host: t.Host, Port: uint16(n)}, err == nil && t.Host != "" && t.Addr.Zone() == ""
}

// cutUnquoted splits text at the first separator outside of a quoted string.
func cutUnquoted(text string, separator byte) (before, after string) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case text[i] == separator && !quoted:
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

// Changed reports whether responses have changed the Store.
func (s *Store) Changed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.learned) > 0
}

// contains reports whether services has a service with the address and the protocol
// of one.
func contains(services []Service, one Service) bool {
	return slices.ContainsFunc(services, func(s Service) bool {
		return s.Host == one.Host && s.Port == one.Port && s.protocol == one.protocol
	})
}
