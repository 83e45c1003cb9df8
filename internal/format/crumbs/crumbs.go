// Package crumbs returns the titles of URLs, and the listings above them, such
// as the parent folders of a file.
package crumbs

import (
	"cmp"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A Crumb is a parent folder of an object, or another listing above it.
type Crumb struct {
	Name string
	URL  uri.URI
}

// Of returns the listings above u, a URL of the scheme s, from the root of the
// server to the parent. It returns nil for the root, and for a URL that is not
// below a listing, such as mid:MESSAGE-ID.
func Of(s fetch.Scheme, u uri.URI) []Crumb {
	if s.Traits.Parents == nil || s.NeedsHost() && u.Host() == "" {
		return nil
	}
	var crumbs []Crumb
	for i, above := range s.Traits.Parents(u) {
		name := Name(s, above)
		if i == 0 {
			name = cmp.Or(u.Host(), "/")
		}
		crumbs = append(crumbs, Crumb{name, above})
	}
	return crumbs
}

// Name returns the last part of the path of u, a URL of the scheme s. If the path
// is empty, Name returns the host of u, or u itself.
func Name(s fetch.Scheme, u uri.URI) string {
	place := u
	if s.Mirror.Place != nil { // for example without the type of a Gopher item
		place = s.Mirror.Place(u)
	}
	path := strings.TrimRight(place.Path(), "/")
	name := path[strings.LastIndexByte(path, '/')+1:]
	if text, err := uri.Unescape(name); err == nil {
		name = text
	}
	return cmp.Or(name, u.Host(), u.String())
}
