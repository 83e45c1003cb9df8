package browser

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/anyurl/fetch/uri"
)

// A Relation is the relation of a request to the page with its URL.
type Relation uint8

const (
	// SameSite is a request for a URL that the user entered, or that a page of the
	// same site contains.
	SameSite Relation = iota
	// Followed is a request for a page to which a page of another site links.
	Followed
	// Embedded is a request for a part of a page of another site, such as an image.
	Embedded
)

// RelationOf returns the relation of a request for u. The page with the URL is
// from, or zero if the user entered u. If part is true, it is for a part of the page.
func RelationOf(u, from uri.URI, part bool) Relation {
	switch {
	case from.IsZero() || siteOfURI(u) == siteOfURI(from):
		return SameSite
	case part:
		return Embedded
	}
	return Followed
}

// siteOfURI returns the site of u.
func siteOfURI(u uri.URI) string { return siteOf(u.Scheme(), strings.Trim(u.Host(), "[]")) }

// A cookie is a cookie of the profile, as the browser describes it.
type cookie struct {
	Name, Value, Domain, Path string
	Secure                    bool
	Expires                   float64 // seconds since 1970, or -1
	SameSite                  string  // "Strict", "Lax", "None", or "", which means Lax
	PartitionKey              struct{ TopLevelSite string }
}

// Cookies returns the value of a Cookie field with the cookies of the profile
// for a request for u, or "". It observes the attribute SameSite (RFC 6265bis).
func (b *Browser) Cookies(u uri.URI, r Relation) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []string
	for _, text := range b.current.cookies {
		var c cookie
		if json.Unmarshal(text, &c) == nil && c.belongsTo(u, r, time.Now()) {
			all = append(all, c.Name+"="+c.Value)
		}
	}
	return strings.Join(all, "; ")
}

// belongsTo reports whether a request for u has the cookie.
func (c *cookie) belongsTo(u uri.URI, r Relation, now time.Time) bool {
	switch top := c.PartitionKey.TopLevelSite; {
	case !matches(c.Domain, c.Path, u), c.Secure && u.Scheme() != "https", c.Expires > 0 && c.Expires < float64(now.Unix()):
		return false
	case top != "" && (r == Embedded || top != siteOfURI(u)): // belongs to pages of another site
		return false
	}
	return r == SameSite || c.SameSite == "None" && c.Secure || r == Followed && c.SameSite != "Strict"
}

// matches reports whether a cookie with a domain and a path belongs to u (RFC
// 6265 section 5.1).
func matches(domain, path string, u uri.URI) bool {
	host := strings.ToLower(u.Host())
	if parent, ok := strings.CutPrefix(domain, "."); ok {
		if host != parent && !strings.HasSuffix(host, domain) {
			return false
		}
	} else if host != domain {
		return false
	}
	rest, ok := strings.CutPrefix(u.Path(), strings.TrimSuffix(path, "/"))
	return ok && (rest == "" || strings.HasPrefix(rest, "/")) || path == "/"
}
