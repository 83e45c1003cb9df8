package mirror

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/media"
	"github.com/anyurl/fetch/uri"
)

// isListing reports whether an object of s is read line by line; what it leads to
// can only be told from its server's answer. Sitemaps are read as documents. The
// description of a WAIS database lists that alone, an index, which leads nowhere
// without words; and what is malformed is no less worth keeping.
func isListing(s fetch.Scheme, menu bool, kind string) bool {
	kind = media.TrimParameters(kind)
	return menu && !(s.Traits.Web && kind != "text/html") && kind != "application/x-wais-source"
}

// isRobots reports whether u, a URL of s, is a site's rules for robots.
func isRobotsTxt(s fetch.Scheme, u uri.URI) bool {
	_, asked := u.Query()
	return s.Traits.Web && u.Path() == "/robots.txt" && !asked
}

// lasting reports whether u, a URL of s, names an object that never changes.
func isImmutable(s fetch.Scheme, u uri.URI) bool {
	return s.Mirror.Immutable != nil && s.Mirror.Immutable(u)
}

// isGroup reports whether u, a URL of s, can name a newsgroup: news:comp.lang.c.
func isGroup(s fetch.Scheme, u uri.URI) bool { return s.Mirror.Article != nil && !isImmutable(s, u) }

// mirrored reports whether a mirror can retrieve objects of s. A session is no
// object, and an alias is mirrored as the object that it names.
func canMirror(s fetch.Scheme) bool {
	return s.Open != nil && !s.Traits.Session && !s.Mirror.Alias
}
