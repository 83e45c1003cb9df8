package http

import (
	"cmp"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/internal/wire/http1"
)

// These limits are defined in RFC 6265bis 5.6.
const (
	maxCookie    = 4096 // maximum length of the name and the value in bytes
	maxAttribute = 1024
	maxLifetime  = 400 * 24 * time.Hour
)

// A cookie is one entry of a [Jar], with the attributes that the server has set
// (RFC 6265bis 5.6 and 5.7).
type cookie struct {
	name, value  string
	domain, path string // the domain without a leading dot
	hostOnly     bool   // do not send to subdomains
	secure       bool   // send over TLS only
	httpOnly     bool
	expires      time.Time // zero for a session cookie
	created      int       // sequence number within the Jar
	stored       bool      // from a file, and not from a response
}

// A cookieKey identifies a cookie in a Jar.
type cookieKey struct {
	name, domain, path string
	hostOnly           bool
}

func (c *cookie) key() cookieKey { return cookieKey{c.name, c.domain, c.path, c.hostOnly} }

// A cookieContext holds the properties of a request that determine which
// cookies it may send and which cookies its response may set.
type cookieContext struct {
	host   string // in lower case, without a trailing dot
	path   string // request path without the query
	secure bool
}

// parseCookie parses the value of a Set-Cookie field in the response to the
// request p. It returns false if clients must ignore the cookie (RFC 6265bis).
func (j *Jar) parseCookie(field string, p cookieContext, now time.Time) (*cookie, bool) {
	pair, attributes, _ := strings.Cut(field, ";")
	name, value, ok := strings.Cut(pair, "=")
	c := &cookie{name: strings.Trim(name, " \t"), value: strings.Trim(value, " \t"), path: defaultPath(p.path)}
	if !ok || c.name == "" || len(c.name)+len(c.value) > maxCookie || http1.HasControl(pair) {
		return nil, false
	}
	domain, age := "", false
	for item := range strings.SplitSeq(attributes, ";") {
		key, value, _ := strings.Cut(item, "=")
		value = strings.Trim(value, " \t")
		if len(value) > maxAttribute {
			continue
		}
		switch strings.ToLower(strings.Trim(key, " \t")) {
		case "domain":
			domain = strings.TrimPrefix(strings.ToLower(value), ".")
		case "path":
			c.path = defaultPath(p.path)
			if strings.HasPrefix(value, "/") {
				c.path = cmp.Or(strings.TrimRight(value, "/"), "/") // as in curl, "/x/" also matches "/x"
			}
		case "secure":
			c.secure = true
		case "httponly":
			c.httpOnly = true
		case "max-age":
			if at, ok := parseMaxAge(value, now); ok {
				c.expires, age = at, true
			}
		case "expires":
			if at, ok := parseCookieDate(value); ok && !age {
				c.expires = at
			}
		}
	}
	if last := now.Add(maxLifetime); c.expires.After(last) {
		c.expires = last
	}
	return c, len(c.path) <= maxAttribute && !http1.HasControl(c.path) && j.setDomain(c, domain, p.host) && c.allowed(p)
}

// parseMaxAge parses a Max-Age attribute and returns the expiry time of the
// cookie.
func parseMaxAge(value string, now time.Time) (time.Time, bool) {
	digits := strings.TrimPrefix(value, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return time.Time{}, false
	}
	n, err := strconv.ParseInt(value, 10, 32)
	switch {
	case n <= 0 && err == nil || value != digits:
		return time.Unix(1, 0), true
	case err != nil:
		return now.Add(maxLifetime), true
	}
	return now.Add(time.Duration(n) * time.Second), true
}

// setDomain sets the domain of c from its Domain attribute. It returns false if
// the domain is a public suffix or does not match the host.
func (j *Jar) setDomain(c *cookie, domain, host string) bool {
	c.domain, c.hostOnly = host, true
	if domain == "" || domain == host {
		c.hostOnly = domain == "" || isAddress(host) || j.isPublicSuffix(host)
		return true
	}
	if j.isPublicSuffix(domain) || !domainMatch(host, domain) {
		return false
	}
	c.domain, c.hostOnly = domain, false
	return true
}

// allowed reports whether the response to the request p may set c. The Secure
// attribute and the name prefix __Secure- require TLS. The prefix __Host- also
// restricts the domain and the path.
func (c *cookie) allowed(p cookieContext) bool {
	name := strings.ToLower(c.name)
	switch {
	case c.secure && !p.secure:
		return false
	case strings.HasPrefix(name, "__secure-"):
		return c.secure
	case strings.HasPrefix(name, "__host-"):
		return c.secure && c.hostOnly && c.path == "/"
	}
	return true
}

// matches reports whether the request p may send c.
func (c *cookie) matches(p cookieContext) bool {
	if c.secure && !p.secure || !pathMatch(p.path, c.path) {
		return false
	}
	return p.host == c.domain || !c.hostOnly && domainMatch(p.host, c.domain)
}

func (c *cookie) expired(now time.Time) bool { return !c.expires.IsZero() && !c.expires.After(now) }

func isAddress(host string) bool { _, err := netip.ParseAddr(host); return err == nil }

// domainMatch reports whether host equals domain or is a subdomain of it (RFC
// 6265bis 5.1.3). An IP address has no subdomains.
func domainMatch(host, domain string) bool {
	return host == domain || strings.HasSuffix(host, "."+domain) && !isAddress(host)
}

// defaultPath returns the path of a cookie without a Path attribute. The path
// is derived from the path of the request (RFC 6265bis 5.1.4).
func defaultPath(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

func pathMatch(path, prefix string) bool {
	rest, ok := strings.CutPrefix(path, prefix)
	return ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(prefix, "/"))
}

// parseCookieDate parses the date in an Expires attribute (RFC 6265bis 5.1.1).
// It accepts the time, day, month and year in any order.
func parseCookieDate(s string) (time.Time, bool) {
	var hour, minute, second int
	day, month, year := 0, 0, -1
	clock := false
	for token := range strings.FieldsFuncSeq(s, dateDelimiter) {
		switch {
		case !clock && strings.Count(token, ":") == 2:
			if hour, minute, second, clock = parseClock(token); clock {
				continue
			}
		case day == 0 && leadingNumber(token, 1, 2) > 0:
			day = leadingNumber(token, 1, 2)
		case month == 0 && monthOf(token) > 0:
			month = monthOf(token)
		case year < 0 && leadingNumber(token, 2, 4) >= 0:
			year = leadingNumber(token, 2, 4)
		}
	}
	switch {
	case 70 <= year && year <= 99:
		year += 1900
	case 0 <= year && year <= 69:
		year += 2000
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	return t, clock && month > 0 && year >= 1601 && t.Day() == day && hour < 24 && minute < 60 && second < 60
}

func dateDelimiter(r rune) bool {
	return r < '0' && r != 0 || r > '9' && r < 'A' && r != ':' || r > 'Z' && r < 'a' || r > 'z' && r < 0x7f
}

func parseClock(token string) (hour, minute, second int, ok bool) {
	parts := strings.SplitN(token, ":", 3)
	hour, minute, second = leadingNumber(parts[0], 1, 2), leadingNumber(parts[1], 1, 2), leadingNumber(parts[2], 1, 2)
	return hour, minute, second, hour >= 0 && minute >= 0 && second >= 0
}

// leadingNumber parses the decimal digits at the start of s. It returns -1 if
// the number of digits is not between minDigits and maxDigits.
func leadingNumber(s string, minDigits, maxDigits int) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	if n < minDigits || n > maxDigits {
		return -1
	}
	v, _ := strconv.Atoi(s[:n])
	return v
}

func monthOf(token string) int {
	if len(token) < 3 {
		return 0
	}
	i := strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", strings.ToLower(token[:3]))
	if i < 0 || i%3 != 0 {
		return 0
	}
	return i/3 + 1
}
