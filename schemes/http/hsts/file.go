package hsts

import (
	"bufio"
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
	maxHosts  = 500_000     // hosts of a file that have not expired
)

// Read adds the hosts from a file in curl's format. They replace those of an earlier
// call, but not those that responses have changed. Each line has a host and a
// quoted time until which the host requires https. A leading dot means that its
// subdomains also require it. If a host has several lines, the latest time counts,
// and a single dot is sufficient. Read skips comments, expired hosts and malformed
// lines. It returns an error if the first line that is no comment is malformed, if
// a line is too long, if the file has more than 500,000 hosts or 1,000,000 lines, or
// if reading r fails. The Store then has only some of the hosts, and the caller must
// not use it or replace the file.
func (s *Store) Read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.hosts, func(host string, _ entry) bool { return !s.isLearned(host) })
	now := s.now()
	known := false // an earlier line is in curl's format
	for n := 1; lines.Scan(); n++ {
		if n > maxLines {
			return fetch.Local.Errorf("HSTS file: more than %d lines", maxLines)
		}
		line := strings.TrimSpace(lines.Text())
		host, e, ok := parseLine(line)
		if known = known || ok; !known && line != "" && line[0] != '#' {
			return fetch.Local.Errorf("HSTS file: line %d is not in curl's format", n)
		}
		if ok && !s.isLearned(host) && now.Before(e.expires) {
			s.put(host, e.join(s.hosts[host]))
		}
		if ok && len(s.hosts) > maxHosts+len(s.learned) {
			return errTooMany()
		}
	}
	if err := lines.Err(); err != nil {
		return fetch.Local.Errorf("HSTS file: %w", err)
	}
	return nil
}

// errTooMany returns the error for a file with too many hosts.
func errTooMany() error { return fetch.Local.Errorf("HSTS file: more than %d hosts", maxHosts) }

func parseLine(line string) (host string, e entry, ok bool) {
	name, date, ok := strings.Cut(line, ` "`)
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

// Write writes the hosts that still require https in curl's format. It returns
// an error, and writes nothing, if there are more than Read accepts.
func (s *Store) Write(w io.Writer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	maps.DeleteFunc(s.hosts, func(_ string, e entry) bool { return !now.Before(e.expires) })
	if len(s.hosts) > maxHosts {
		return errTooMany()
	}
	b := bufio.NewWriter(w)
	fmt.Fprint(b, "# HSTS cache in the format of curl\n")
	for _, host := range slices.Sorted(maps.Keys(s.hosts)) {
		e := s.hosts[host]
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
