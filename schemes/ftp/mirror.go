package ftp

import (
	"strings"

	"github.com/anyurl/fetch/uri"
)

// below returns the URL of the directory that a URL with ";type=d" lists.
func below(u uri.URI) (uri.URI, bool) {
	i := strings.LastIndex(u.Path(), ";type=d")
	if i < 0 {
		return u, false
	}
	dir, err := u.WithPath(strings.TrimSuffix(u.Path()[:i], "/") + "/")
	return dir, err == nil
}
