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
func (j *Jar) set(fields []string, p place, now time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, field := range fields[:min(len(fields), maxSetCookies)] {
		if c, ok := parseCookie(field, p, now); ok && !j.guards(c, p) {
			j.put(c, now)
		}
	}
}

// guards reports whether c, from a place without TLS, would stand before a
// cookie that was set under TLS.
func (j *Jar) guards(c *cookie, p place) bool {
	return !p.secure && slices.ContainsFunc(j.cookies, func(old *cookie) bool {
		return old.secure && old.name == c.name && pathMatch(c.path, old.path) &&
			(domainMatch(old.domain, c.domain) || domainMatch(c.domain, old.domain))
	})
}

// put replaces the cookie of the same name, domain and path; one that has
// expired it only takes away.
func (j *Jar) put(c *cookie, now time.Time) {
	j.count++
	c.created = j.count
	j.cookies = slices.DeleteFunc(j.cookies, func(old *cookie) bool {
		same := old.name == c.name && old.domain == c.domain && old.path == c.path && old.hostOnly == c.hostOnly
		if same {
			c.created = old.created
		}
		return same || old.expired(now)
	})
	if c.expired(now) {
		return
	}
	at, _ := slices.BinarySearchFunc(j.cookies, c.created, func(old *cookie, n int) int { return old.created - n })
	j.cookies = slices.Insert(j.cookies, at, c)
	j.evict(func(old *cookie) bool { return old.domain == c.domain }, maxDomainCookies)
	j.evict(func(*cookie) bool { return true }, maxCookies)
}

// evict lets the oldest of a kind go where there are more than most.
func (j *Jar) evict(kind func(*cookie) bool, most int) {
	n, oldest := 0, -1
	for i, c := range j.cookies {
		if kind(c) {
			if n++; oldest < 0 {
				oldest = i
			}
		}
	}
	if n > most {
		j.cookies = slices.Delete(j.cookies, oldest, oldest+1)
	}
}

// field is the Cookie field for p, or "": the longest path first, then the
// oldest.
func (j *Jar) field(p place, now time.Time) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var going []*cookie
	for _, c := range j.cookies {
		if c.goesTo(p) && !c.expired(now) {
			going = append(going, c)
		}
	}
	slices.SortStableFunc(going, func(a, b *cookie) int { return len(b.path) - len(a.path) })
	var b strings.Builder
	for _, c := range going {
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
