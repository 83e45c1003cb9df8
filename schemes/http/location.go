package http

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/baseuri"
	"github.com/anyurl/fetch/uri"
)

// location resolves the Location of a response to from.
func resolveLocation(from uri.URI, text string) (u uri.URI, repaired bool, err error) {
	u, repaired, err = baseuri.ResolveLocation(from, text)
	if err != nil {
		return u, false, fetch.Protocol.Errorf("Location is no URI reference: %w", err)
	}
	return u, repaired, nil
}
