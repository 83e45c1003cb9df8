// Package crumbs returns the listings above a URL, such as the parent folders of
// a file.
package crumbs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/anyurl/fetch/uri"
)

// A Crumb is a parent folder of an object, or another listing above it.
type Crumb struct {
	Name string
	URL  uri.URI
}

// maxCrumbs limits the number of crumbs.
const maxCrumbs = 100

// Of returns the listings above a URL, from the root of the server to the
// parent. It returns nil for the root, and for a URL that is not below a
// listing, such as mid:MESSAGE-ID.
func Of(u uri.URI) []Crumb {
	host := u.Host()
	prefix, path, suffix := "/", strings.Trim(u.Path(), "/"), "/"
	switch u.Scheme() {
	case "file":
		host = "/"
	case "gopher", "gophers": // an item type and a selector
		if len(path) < 2 {
			return nil
		}
		prefix, path, suffix = "/1", path[1:], ""
		if path[0] == '/' {
			prefix, path = "/1/", path[1:]
		}
	case "nntp", "nntps", "imap", "imaps", "wais":
		suffix = ""
	case "http", "https", "ftp", "ftps", "prospero", "gemini", "spartan", "sftp", "scp":
	default:
		return nil
	}
	if path == "" || host == "" {
		return nil
	}
	parts := strings.Split(path, "/")
	if u.Scheme() == "wais" {
		parts = parts[:min(len(parts), 2)] // a document identifier has no folders
	}
	crumbs := []Crumb{{Name: host, URL: withPath(u, "/")}}
	for i, name := range parts[:min(len(parts)-1, maxCrumbs)] {
		if name != "" {
			above := prefix + strings.Join(parts[:i+1], "/") + suffix
			crumbs = append(crumbs, Crumb{Name: unescape(name), URL: withPath(u, above)})
		}
	}
	return slices.DeleteFunc(crumbs, func(c Crumb) bool { return c.URL.IsZero() })
}

// Name returns the last part of the path of a URL, or its host. The item type of
// a gopher URL is not a part of the name.
func Name(u uri.URI) string {
	path := strings.TrimRight(u.Path(), "/")
	if strings.HasPrefix(u.Scheme(), "gopher") && len(path) >= 2 {
		path = path[2:]
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	return cmp.Or(unescape(name), u.Host(), u.String())
}

// withPath returns u with another path, and without a query and a fragment. It
// returns the zero URI if the path is not valid.
func withPath(u uri.URI, path string) uri.URI {
	above, err := u.WithoutFragment().WithoutQuery().WithPath(path)
	if err != nil {
		return uri.URI{}
	}
	return above
}

// unescape decodes the percent-encoding of a name, if it is valid.
func unescape(name string) string {
	if text, err := uri.Unescape(name); err == nil {
		return text
	}
	return name
}
