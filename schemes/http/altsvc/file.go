package altsvc

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// timeFormat is the format of times in a file. They are in UTC.
const timeFormat = "20060102 15:04:05"

const (
	maxLine   = 4096      // bytes of a line
	maxLines  = 1_000_000 // lines of a file
	maxHosts  = 500_000   // origins of a file
	maxOfHost = 100       // services of an origin in a file
)

// Read adds the services from a file in curl's format. They replace those of an
// earlier call, but not those of origins whose responses have changed them. Each
// line has the protocol, host and port of an origin and of a service. A quoted time, the flag persist and a
// priority follow. Services with the protocols h1 and h2 are kept for Write. Read
// skips comments, expired services, other protocols and malformed lines. It returns
// an error if the first line that is no comment is malformed, if a line is too long
// or if reading r fails. It also returns an error if the file has more than 500,000
// origins, 1,000,000 lines or 100 services of an origin.
// The Store then has only some of the services, and the caller must not use it or
// replace the file.
func (s *Store) Read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.origins, func(key string, _ []Service) bool { return !s.learned[key] })
	now := s.now()
	known := false // an earlier line is in curl's format
	for n := 1; lines.Scan(); n++ {
		if n > maxLines {
			return fetch.Local.Errorf("Alt-Svc file: more than %d lines", maxLines)
		}
		line := strings.TrimSpace(lines.Text())
		key, service, ok := parseLine(line)
		if known = known || isEntry(line); !known && line != "" && line[0] != '#' {
			return fetch.Local.Errorf("Alt-Svc file: line %d is not in curl's format", n)
		}
		if ok && !s.learned[key] && now.Before(service.expires) && !contains(s.origins[key], service) {
			s.put(key, append(s.origins[key], service))
		}
		if len(s.origins[key]) > maxOfHost {
			return fetch.Local.Errorf("Alt-Svc file: more than %d services of %s", maxOfHost, key)
		}
		if len(s.origins) > maxHosts+len(s.learned) {
			return errTooMany()
		}
	}
	if err := lines.Err(); err != nil {
		return fetch.Local.Errorf("Alt-Svc file: %w", err)
	}
	return nil
}

// errTooMany returns the error for a file with too many origins.
func errTooMany() error { return fetch.Local.Errorf("Alt-Svc file: more than %d hosts", maxHosts) }

// isEntry reports whether a line has the form of an entry, also for other
// protocols.
func isEntry(line string) bool {
	addresses, _, ok := strings.Cut(line, ` "`)
	return ok && len(strings.Fields(addresses)) == 6
}

func parseLine(line string) (key string, s Service, ok bool) {
	addresses, rest, ok := strings.Cut(line, ` "`)
	word := strings.Fields(addresses)
	if !ok || len(word) != 6 {
		return "", s, false
	}
	from, protocol := protocolOf(word[0]), protocolOf(word[3])
	if from == "" || protocol == "" {
		return "", s, false
	}
	date, flags, _ := strings.Cut(rest, `"`)
	origin, ok := newService(strings.Trim(word[1], "[]"), word[2])
	if !ok {
		return "", s, false
	}
	if s, ok = newService(strings.Trim(word[4], "[]"), word[5]); !ok {
		return "", s, false
	}
	expires, err := time.Parse(timeFormat, date)
	s.expires, s.persist = expires, strings.HasPrefix(strings.TrimSpace(flags), "1")
	s.from, s.protocol = from, protocol
	return originKey(origin.Host, origin.Port), s, err == nil
}

// protocolOf returns a constant for a protocol that curl uses in its files, or "".
// The constant does not keep the line in memory.
func protocolOf(name string) string {
	for _, protocol := range [...]string{"h1", "h2", h3} {
		if name == protocol {
			return protocol
		}
	}
	return ""
}

// Write writes the services that have not expired in curl's format. It returns
// an error, and writes nothing, if there are more origins than Read accepts.
func (s *Store) Write(w io.Writer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for key, all := range s.origins {
		s.put(key, slices.DeleteFunc(all, func(a Service) bool { return !now.Before(a.expires) }))
	}
	if len(s.origins) > maxHosts {
		return errTooMany()
	}
	b := bufio.NewWriter(w)
	fmt.Fprint(b, "# Alt-Svc cache in the format of curl\n")
	for _, key := range slices.Sorted(maps.Keys(s.origins)) {
		host, port, _ := net.SplitHostPort(key)
		for _, a := range s.origins[key] {
			persist := 0
			if a.persist {
				persist = 1
			}
			fmt.Fprintf(b, "%s %s %s %s %s %d %q %d 0\n", a.from, bracketed(host), port, a.protocol, bracketed(a.Host), a.Port,
				a.expires.UTC().Format(timeFormat), persist)
		}
	}
	return b.Flush()
}

// bracketed adds brackets to an IPv6 address.
func bracketed(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}
