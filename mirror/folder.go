package mirror

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/uri"
)

// DefaultFolder returns the folder name of an archive whose first seed is u, a URL
// of the scheme s: the host of u, or its scheme if it has no host.
func DefaultFolder(s fetch.Scheme, u uri.URI) string {
	parts := strings.SplitN(tree.Path(s, u, true), "/", 3)
	if u.Host() == "" {
		return parts[0]
	}
	return parts[1]
}
