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
	maxLine  = 4096      // bytes of a line
	maxLines = 1_000_000 // lines of a file
)

// Read adds the services with the protocol HTTP/3 from a file in curl's format.
// Each line has the protocol, host and port of an origin, those of a service, a
// quoted time, the flag persist and a priority. Read skips comments, expired
// services, other protocols and malformed lines. It returns an error if a line
// is too long or if reading r fails.
func (s *Store) Read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for n := 0; lines.Scan() && n < maxLines; n++ {
		key, service, ok := parseLine(lines.Text())
		if ok && !s.learned[key] && now.Before(service.expires) && len(s.origins[key]) < maxServices &&
			!contains(s.origins[key], service) {
			s.put(key, append(s.origins[key], service))
		}
	}
	if err := lines.Err(); err != nil {
		return fetch.Local.Errorf("Alt-Svc file: %w", err)
	}
	return nil
}

func parseLine(line string) (key string, s Service, ok bool) {
	addresses, rest, ok := strings.Cut(line, ` "`)
	word := strings.Fields(addresses)
	if !ok || len(word) != 6 || strings.HasPrefix(line, "#") || word[3] != "h3" {
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
	return originKey(origin.Host, origin.Port), s, err == nil
}

// Write writes the services that have not expired in curl's format.
func (s *Store) Write(w io.Writer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := bufio.NewWriter(w)
	fmt.Fprint(b, "# Alt-Svc cache in the format of curl\n")
	now := s.now()
	for _, key := range slices.Sorted(maps.Keys(s.origins)) {
		host, port, _ := net.SplitHostPort(key)
		for _, a := range s.origins[key] {
			if !now.Before(a.expires) {
				continue
			}
			persist := 0
			if a.persist {
				persist = 1
			}
			fmt.Fprintf(b, "h2 %s %s h3 %s %d %q %d 0\n", bracketed(host), port, bracketed(a.Host), a.Port,
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
