package http

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/http1"
)

// withBareReferers returns the fields of h. A Referer field has the value that
// http1.Referer returns, or is removed if this value may contain a password.
func withBareReferers(h fetch.Header) (bare fetch.Header) {
	for _, f := range h {
		keep := true
		if f.Is("Referer") {
			f.Value, keep = http1.Referer(f.Value)
		}
		if keep {
			bare = append(bare, f)
		}
	}
	return bare
}
