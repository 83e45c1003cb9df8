package http

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/uri"
)

// resolveLocation resolves the value of a Location field against the URL of the
// request. The result repaired reports whether text was not a valid URI
// reference.
func resolveLocation(from uri.URI, text string) (u uri.URI, repaired bool, err error) {
	u, repaired, err = baseuri.ResolveLocation(from, text)
	if err != nil {
		return u, false, fetch.Protocol.Errorf("Location is not a URI reference: %w", err)
	}
	return u, repaired, nil
}
