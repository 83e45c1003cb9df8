package nfs

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A locator holds the parts of a URL.
type locator struct {
	path []string // the names between slashes; an empty first name begins an absolute path
}

const (
	maxName  = 1024 // bytes of a name
	maxDepth = 256  // names in a path
)

func locate(u uri.URI) (l locator, err error) {
	if u.Host() == "" {
		return l, fetch.BadURL.Errorf("the URL has no host: nfs://HOST/PATH")
	}
	if _, ok := u.Query(); ok {
		return l, fetch.BadURL.Errorf("an nfs URL has no query: write \"?\" in a name as %%3F")
	}
	path := strings.TrimPrefix(u.Path(), "/")
	if path == "" {
		return l, nil
	}
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		name, err := uri.Unescape(segment)
		switch {
		case err != nil:
			return l, fetch.BadURL.With(err)
		case name == "" && i > 0: // an empty name at the end marks a directory
		case name == "." || name == ".." || strings.ContainsAny(name, "/\x00"):
			return l, fetch.BadURL.Errorf("the path has a name that is not a file name")
		case len(name) > maxName || len(l.path) == maxDepth:
			return l, fetch.BadURL.Errorf("the path is too long")
		default:
			l.path = append(l.path, name)
		}
	}
	if len(l.path) == 1 && l.path[0] == "" {
		l.path = nil
	}
	return l, nil
}

// isFileName reports whether name, which a server listed, is a valid file name.
func isFileName(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= maxName && !strings.ContainsAny(name, "/\x00")
}

// relative removes the empty first name of an absolute path.
func relative(path []string) []string {
	if len(path) > 0 && path[0] == "" {
		return path[1:]
	}
	return path
}
