package scheme

import (
	"strings"

	"github.com/anyurl/fetch/uri"
)

// A ListingType is the type of the listings of a scheme. It determines how
// programs call a listing.
type ListingType uint8

const (
	OtherListing ListingType = iota // for example the results of a search
	ItemMenu                        // a menu of items, as in Gopher
	Directory                       // a directory of files
	Newsgroup                       // a newsgroup with articles
	Mailbox                         // a mailbox with messages
)

// maxParents limits the number of listings above a URL.
const maxParents = 100

// Folders returns the folders above u, from the root of the server to the
// parent. The path of a folder ends in a slash, as in "/a/b/". The result is
// nil for the root. Folders is a value for [Traits.Parents].
func Folders(u uri.URI) []uri.URI { return Above(u, "/", u.Path(), "/") }

// Levels is like [Folders] for schemes whose listings have paths without a
// final slash, such as "/a/b".
func Levels(u uri.URI) []uri.URI { return Above(u, "/", u.Path(), "") }

// Above returns the listings above u for schemes whose paths have a special
// form. The first result is the root of the server, with the path "/". The paths
// of the other results consist of prefix, a leading part of path, and suffix.
// Above ignores slashes at both ends of path. It returns nil if path has no other
// characters.
func Above(u uri.URI, prefix, path, suffix string) (above []uri.URI) {
	path = strings.Trim(path, "/")
	if path == "" {
		return nil
	}
	server := u.WithoutFragment().WithoutQuery()
	add := func(path string) {
		if listing, err := server.WithPath(path); err == nil {
			above = append(above, listing)
		}
	}
	add("/")
	for i := range path {
		if path[i] == '/' && path[i-1] != '/' && len(above) <= maxParents {
			add(prefix + path[:i] + suffix)
		}
	}
	return above
}
