package clientflags

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// OriginOf returns the origin of u and reports whether u contains a host.
func OriginOf(u uri.URI) (fetch.Origin, bool) {
	port, _ := uri.DefaultPort(u.Scheme())
	t, err := fetch.TargetOf(u, port)
	return t.Origin(), err == nil && t.Host != ""
}
