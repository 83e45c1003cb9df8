package http

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits of a Jar: RFC 6265bis 5.7 lets the oldest go.
const (
	maxCookies       = 3000
	maxDomainCookies = 180
	maxSetCookies    = 50      // of one response
	maxCookieField   = 8 << 10 // what servers take
)

// A Jar keeps cookies as RFC 6265bis says, and holds them to the public
// suffix list. The zero Jar is empty and ready. It is safe for concurrent use.
type Jar struct {
	mu      sync.Mutex
	cookies []*cookie // in the order in which they were made
	count   int       // ever made
}

// EndSession forgets the cookies that last as long as a session.
func (j *Jar) EndSession() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.cookies = slices.DeleteFunc(j.cookies, func(c *cookie) bool { return c.expires.IsZero() })
}

// set keeps what a response from p sets.
func (j *Jar) setCookies(fields []string, p cookieContext, now time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, field := range fields[:min(len(fields), maxSetCookies)] {
		if c, ok := parseCookie(field, p, now); ok && !j.shadowsSecure(c, p) {
			j.put(c, now)
		}
	}
}

// guards reports whether c, from a place without TLS, would stand before a
// cookie that was set under TLS.
func (j *Jar) shadowsSecure(c *cookie, p cookieContext) bool {
	return !p.secure && slices.ContainsFunc(j.cookies, func(other *cookie) bool {
		return other.secure && other.name == c.name && pathMatch(c.path, other.path) &&
			(domainMatch(other.domain, c.domain) || domainMatch(c.domain, other.domain))
	})
}

// put replaces the cookie of the same name, domain and path; one that has
// expired it only takes away.
func (j *Jar) put(c *cookie, now time.Time) {
	j.count++
	c.created = j.count
	j.cookies = slices.DeleteFunc(j.cookies, func(other *cookie) bool {
		same := other.name == c.name && other.domain == c.domain && other.path == c.path && other.hostOnly == c.hostOnly
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

// evict lets the oldest of a kind go where there are more than most.
func (j *Jar) evict(match func(*cookie) bool, limit int) {
	n, oldest := 0, -1
	for i, c := range j.cookies {
		if match(c) {
			if n++; oldest < 0 {
				oldest = i
			}
		}
	}
	if n > limit {
		j.cookies = slices.Delete(j.cookies, oldest, oldest+1)
	}
}

// field is the Cookie field for p, or "": the longest path first, then the
// oldest.
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
