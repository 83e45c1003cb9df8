package entries

import (
	"mime"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// menuParameter marks the media type of a listing in a WARC record if the
// media type is also used for documents.
const menuParameter = "; kind=menu"

// KindOf returns fetch.Menu for the media types that the schemes of this module
// use for listings, and for those that [MarkedMedia] has marked. It returns
// fetch.Document for all other media types.
func KindOf(media string) fetch.Kind {
	if IsMedia(media) || strings.HasSuffix(media, menuParameter) {
		return fetch.Menu
	}
	t, params, _ := mime.ParseMediaType(media)
	if t == "text/x-ldif" && params["scope"] != "" { // the result of a search, and not one entry
		return fetch.Menu
	}
	switch t {
	case "application/gopher-menu", "application/gopher+-menu", "text/x-ph", "text/gemini", "text/x-pop3-list",
		"text/x-ftp-list", "text/x-nntp-overview", "text/x-nntp-hdr", "text/x-nntp-active",
		"text/x-nntp-descriptions", "text/x-nntp-ids":
		return fetch.Menu
	}
	return fetch.Document
}

// MarkedMedia returns the media type for the record of an object. KindOf then
// returns fetch.Menu if kind is fetch.Menu, also for the listings of schemes
// that this module does not support.
func MarkedMedia(media string, kind fetch.Kind) string {
	if kind == fetch.Menu && KindOf(media) != fetch.Menu {
		media += menuParameter
	}
	return media
}

// UnmarkedMedia returns the media type that was passed to [MarkedMedia].
func UnmarkedMedia(media string) string { return strings.TrimSuffix(media, menuParameter) }
