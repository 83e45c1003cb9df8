package entries

import (
	"mime"

	"github.com/anyurl/fetch/fetch"
)

// KindOf returns fetch.Menu for the media types that the schemes of this module
// use for listings. It returns fetch.Document for all other media types.
func KindOf(media string) fetch.Kind {
	if IsMedia(media) {
		return fetch.Menu
	}
	t, params, _ := mime.ParseMediaType(media)
	if t == "text/x-ldif" && params["scope"] != "" { // the result of a search, and not one entry
		return fetch.Menu
	}
	switch t {
	case "application/gopher-menu", "application/gopher+-menu", "text/x-ph",
		"text/x-ftp-list", "text/x-nntp-overview", "text/x-nntp-hdr", "text/x-nntp-active",
		"text/x-nntp-descriptions", "text/x-nntp-ids":
		return fetch.Menu
	}
	return fetch.Document
}
