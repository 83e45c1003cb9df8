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
