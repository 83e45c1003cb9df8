package ftp

import (
	"strings"

	"github.com/anyurl/fetch/uri"
)

// below replaces ";type=d" in u by a final slash, so that the URL is a prefix
// of the URLs below the directory. It returns false if u has no ";type=d".
func below(u uri.URI) (uri.URI, bool) {
	i := strings.LastIndex(u.Path(), ";type=d")
	if i < 0 {
		return u, false
	}
	dir, err := u.WithPath(strings.TrimSuffix(u.Path()[:i], "/") + "/")
	return dir, err == nil
}

// filePath returns the path of u without a transfer type, such as ";type=i". The
// type "d" marks a listing.
func filePath(u uri.URI) (path string, listing bool) {
	path = u.Path()
	i := strings.LastIndex(path, ";type=")
	if i < 0 {
		return path, false
	}
	switch path[i+len(";type="):] {
	case "a", "A", "i", "I":
		return path[:i], false
	case "d", "D":
		return path[:i], true
	}
	return path, false
}
