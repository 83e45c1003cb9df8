package mirror

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/media"
	"github.com/anyurl/fetch/uri"
)

// isListing reports whether an object of s is parsed as a listing, for which
// the response of its server is necessary. Sitemaps are parsed as documents.
// The description of a WAIS database is not a listing, because its only entry
// is an index.
func isListing(s fetch.Scheme, menu bool, kind string) bool {
	kind = media.TrimParameters(kind)
	return menu && !(s.Traits.Web && kind != "text/html") && kind != "application/x-wais-source"
}

// isRobotsTxt reports whether u, a URL of s, is the robots.txt of a site.
func isRobotsTxt(s fetch.Scheme, u uri.URI) bool {
	_, asked := u.Query()
	return s.Traits.Web && u.Path() == "/robots.txt" && !asked
}

// lacksRobotsTxt reports whether the response to v means that its site has no
// robots.txt, which allows all requests (RFC 9309 section 2.3.1.3).
func lacksRobotsTxt(v *visit) bool {
	return v.resp != nil && isRobotsTxt(v.scheme, v.url) && v.resp.Code/100 == 4 && v.resp.Code != 429
}

// isImmutable reports whether u, a URL of s, names an object that never
// changes.
func isImmutable(s fetch.Scheme, u uri.URI) bool {
	return s.Mirror.Immutable != nil && s.Mirror.Immutable(u)
}

// isGroup reports whether u, a URL of s, can name a newsgroup, such as
// news:comp.lang.c.
func isGroup(s fetch.Scheme, u uri.URI) bool { return s.Mirror.Article != nil && !isImmutable(s, u) }

// canMirror reports whether objects of s can be mirrored. Sessions have no
// objects, and the objects of an alias are mirrored under another scheme.
func canMirror(s fetch.Scheme) bool {
	return s.Open != nil && !s.Traits.Session && !s.Mirror.Alias
}
