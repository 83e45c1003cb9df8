package gopher

import (
	"strings"

	"github.com/anyurl/fetch/uri"
)

// mirrorPlace returns u without its item type. Mirrors compare URLs without
// item types, because the items below a menu have different types.
func mirrorPlace(u uri.URI) uri.URI {
	if len(u.Path()) < 2 {
		return u
	}
	selector, err := u.WithPath("/" + strings.TrimPrefix(u.Path()[2:], "/"))
	if err != nil {
		return u
	}
	return selector
}
