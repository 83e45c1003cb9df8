package http

import (
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/publicsuffix"
)

// These are the limits for the cookies of responses. The oldest ones are deleted
// first (RFC 6265bis 5.7). Cookies from a file are kept.
const (
	maxCookies       = 3000
	maxDomainCookies = 180
	maxSetCookies    = 50      // maximum number of Set-Cookie fields in one response
	maxCookieField   = 8 << 10 // maximum length of a Cookie field in bytes; many servers reject longer fields
)

// A Jar stores HTTP cookies (RFC 6265bis). [NewJar] returns one. The zero Jar has
// no list of public suffixes, and accepts cookies only for the host that sets
// them. A Jar is safe for concurrent use.
type Jar struct {
	suffix func(domain string) string // returns the public suffix of a domain, or nil

	mu      sync.Mutex
	cookies []*cookie // in the order of their creation
	count   int       // number of cookies passed to put so far
}

// NewJar returns an empty Jar, which rejects cookies for public suffixes such as
// "co.uk". Programs that do not call NewJar do not link the list of suffixes.
func NewJar() *Jar {
	return &Jar{suffix: func(domain string) string {
		suffix, _ := publicsuffix.PublicSuffix(domain)
		return suffix
	}}
}

// isPublicSuffix reports whether cookies must not be set for a domain.
func (j *Jar) isPublicSuffix(domain string) bool {
	return j.suffix == nil || j.suffix(domain) == domain
}

// EndSession deletes all session cookies. A session cookie is a cookie without
// an expiry time.
func (j *Jar) EndSession() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.cookies = slices.DeleteFunc(j.cookies, func(c *cookie) bool { return c.expires.IsZero() })
}

// setCookies stores cookies from the Set-Cookie fields in the response to the
// request p.
func (j *Jar) setCookies(fields []string, p cookieContext, now time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, field := range fields[:min(len(fields), maxSetCookies)] {
		if c, ok := j.parseCookie(field, p, now); ok && !j.shadowsSecure(c, p) {
			j.put(c, now)
		}
	}
}

// shadowsSecure reports whether c was set without TLS and could hide a Secure
// cookie in the jar. It compares the name, the domain and the path of the
// cookies.
func (j *Jar) shadowsSecure(c *cookie, p cookieContext) bool {
	return !p.secure && slices.ContainsFunc(j.cookies, func(other *cookie) bool {
		return other.secure && other.name == c.name && pathMatch(c.path, other.path) &&
			(domainMatch(other.domain, c.domain) || domainMatch(c.domain, other.domain))
	})
}

// put stores c in the jar. It deletes an older cookie with the same name,
// domain and path. It does not store an expired cookie.
func (j *Jar) put(c *cookie, now time.Time) {
	j.count++
	c.created = j.count
	j.cookies = slices.DeleteFunc(j.cookies, func(other *cookie) bool {
		same := other.key() == c.key()
		if same {
			c.created = other.created
		}
		return same || other.expired(now)
	})
	if c.expired(now) {
		return
	}
	at, _ := slices.BinarySearchFunc(j.cookies, c.created, func(other *cookie, n int) int { return other.created - n })
	j.cookies = slices.Insert(j.cookies, at, c)
	j.evict(func(other *cookie) bool { return other.domain == c.domain }, maxDomainCookies)
	j.evict(func(*cookie) bool { return true }, maxCookies)
}

// evict deletes the oldest cookie of a response for which match returns true, if
// more than limit of them match.
func (j *Jar) evict(match func(*cookie) bool, limit int) {
	n, oldest := 0, -1
	for i, c := range j.cookies {
		if !c.stored && match(c) {
			if n++; oldest < 0 {
				oldest = i
			}
		}
	}
	if n > limit {
		j.cookies = slices.Delete(j.cookies, oldest, oldest+1)
	}
}

// cookieField returns the value of the Cookie field for the request p, or "".
// Cookies with longer paths come first. Among cookies with paths of equal
// length, older cookies come first.
func (j *Jar) cookieField(p cookieContext, now time.Time) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var sent []*cookie
	for _, c := range j.cookies {
		if c.matches(p) && !c.expired(now) {
			sent = append(sent, c)
		}
	}
	slices.SortStableFunc(sent, func(a, b *cookie) int { return len(b.path) - len(a.path) })
	var b strings.Builder
	for _, c := range sent {
		if b.Len()+len(c.name)+len(c.value)+3 > maxCookieField {
			break
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(c.name + "=" + c.value)
	}
	return b.String()
}
