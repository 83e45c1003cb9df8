package hsts

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// timeFormat is the format of times in a file. They are in UTC.
const timeFormat = "20060102 15:04:05"

const (
	unlimited = "unlimited" // in place of a time, as in curl
	maxLine   = 4096        // bytes of a line
	maxLines  = 1_000_000   // lines of a file
)

// Read adds the hosts from a file in curl's format. Each line has a host and a
// quoted time until which the host requires https. A leading dot means that its
// subdomains also require it. Read skips comments, expired hosts and malformed
// lines. It returns an error if a line is too long or if reading r fails.
func (s *Store) Read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for n := 0; lines.Scan() && n < maxLines; n++ {
		host, e, ok := parseLine(lines.Text())
		if _, changed := s.learned[host]; ok && !changed && now.Before(e.expires) {
			s.put(host, e)
		}
	}
	if err := lines.Err(); err != nil {
		return fetch.Local.Errorf("HSTS file: %w", err)
	}
	return nil
}

func parseLine(line string) (host string, e entry, ok bool) {
	name, date, ok := strings.Cut(strings.TrimSpace(line), ` "`)
	if !ok || strings.HasPrefix(name, "#") {
		return "", e, false
	}
	name, e.subdomains = strings.CutPrefix(name, ".")
	host = canonical(name)
	if date = strings.TrimSuffix(date, `"`); date == unlimited {
		e.expires = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
		return host, e, host != ""
	}
	expires, err := time.Parse(timeFormat, date)
	e.expires = expires
	return host, e, err == nil && host != ""
}

// Changed reports whether responses have changed the Store.
func (s *Store) Changed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.learned) > 0
}

// Write writes the hosts that still require https in curl's format.
func (s *Store) Write(w io.Writer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := bufio.NewWriter(w)
	fmt.Fprint(b, "# HSTS cache in the format of curl\n")
	now := s.now()
	hosts := slices.SortedFunc(maps.Keys(s.hosts), func(a, b string) int { return cmp.Compare(a, b) })
	for _, host := range hosts {
		e := s.hosts[host]
		if !now.Before(e.expires) {
			continue
		}
		dot, date := "", unlimited
		if e.subdomains {
			dot = "."
		}
		if e.expires.Year() < 9999 {
			date = e.expires.UTC().Format(timeFormat)
		}
		fmt.Fprintf(b, "%s%s %q\n", dot, host, date)
	}
	return b.Flush()
}
