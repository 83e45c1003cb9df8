package gopher

import (
	"strings"

	"github.com/anyurl/fetch/fetch/scheme"
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

// filePath returns the path of u. An item of type 1 is a listing.
func filePath(u uri.URI) (path string, listing bool) {
	return u.Path(), strings.HasPrefix(strings.TrimPrefix(u.Path(), "/"), "1")
}

// parents returns the menus above u. Their selectors begin with a slash if the
// selector of u does.
func parents(u uri.URI) []uri.URI {
	if len(u.Path()) < 2 {
		return nil
	}
	selector, prefix := u.Path()[2:], "/1"
	if strings.HasPrefix(selector, "/") {
		prefix = "/1/"
	}
	return scheme.Above(u, prefix, selector, "")
}
