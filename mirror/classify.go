package mirror

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/uri"
)

// isListing reports whether an object is parsed as a listing. Only a response
// from the server, and no archived copy, can be parsed as a listing. Sitemaps
// are parsed as documents. The description of a WAIS database is not a listing,
// because its only entry is a search index.
func isListing(s fetch.Scheme, menu bool, kind string) bool {
	kind = media.TrimParameters(kind)
	return menu && !(s.Traits.Web && kind != "text/html") && kind != "application/x-wais-source"
}

// isRobotsTxt reports whether u is the URL of a robots.txt file. The parameter
// s is the scheme of u.
func isRobotsTxt(s fetch.Scheme, u uri.URI) bool {
	_, hasQuery := u.Query()
	return s.Traits.Web && u.Path() == "/robots.txt" && !hasQuery
}

// lacksRobotsTxt reports whether the response to v means that its site has no
// robots.txt. All requests are then allowed (RFC 9309 section 2.3.1.3).
func lacksRobotsTxt(v *visit) bool {
	return v.resp != nil && isRobotsTxt(v.scheme, v.url) && v.resp.Code/100 == 4 && v.resp.Code != 429
}

// lacksGuess reports whether err means that the URL of v does not exist and is in
// no document, such as the URL of robots.txt.
func lacksGuess(v *visit, err error) bool {
	return v.meta.Guessed && (fetch.FaultOf(err) == fetch.NotFound || lacksRobotsTxt(v))
}

// isImmutable reports whether the object at u never changes, such as a news
// article. The parameter s is the scheme of u.
func isImmutable(s fetch.Scheme, u uri.URI) bool {
	return s.Mirror.Immutable != nil && s.Mirror.Immutable(u)
}

// isMessage reports whether an object with the given media type is a message in
// a mailbox of the scheme s. Its URL may name another message later, as in pop.
func isMessage(s fetch.Scheme, media string) bool {
	return s.Traits.Mailbox && media == "message/rfc822"
}

// isGroup reports whether u can be the URL of a newsgroup, such as
// news:comp.lang.c. The parameter s is the scheme of u.
func isGroup(s fetch.Scheme, u uri.URI) bool { return s.Mirror.Article != nil && !isImmutable(s, u) }

// canMirror reports whether objects of the scheme s can be mirrored. It returns
// false for sessions such as telnet. It also returns false for an alias,
// because its objects are mirrored under another scheme.
func canMirror(s fetch.Scheme) bool {
	return s.Open != nil && !s.Traits.Session && !s.Mirror.Alias
}
