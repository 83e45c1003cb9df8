package gopher

import (
	"cmp"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/media"
)

// A framing says how the answer for an item ends.
type framing uint8

const (
	asBytes framing = iota // up to the close
	asText                 // lines, perhaps up to one of a dot
	asMenu                 // the same, but passed on as sent
)

// An itemType is what a type character means: RFC 1436 3.8, the Gopher+ memo,
// and what servers have added since.
type itemType struct {
	kind    fetch.Kind
	framing framing
	media   string // "": the name may tell
}

var itemTypes = [128]itemType{
	'0': {fetch.Document, asText, "text/plain"},
	'1': {fetch.Menu, asMenu, menuMedia},
	'2': {fetch.Index, asMenu, phMedia},
	'3': {fetch.Info, asBytes, ""}, // an error
	'4': {fetch.Document, asBytes, "application/mac-binhex40"},
	'5': {fetch.Document, asBytes, ""}, // an archive of DOS
	'6': {fetch.Document, asText, "text/x-uuencode"},
	'7': {fetch.Index, asMenu, menuMedia},
	'8': {fetch.Session, asBytes, ""}, // telnet
	'9': {fetch.Document, asBytes, ""},
	'T': {fetch.Session, asBytes, ""}, // tn3270
	'g': {fetch.Document, asBytes, "image/gif"},
	'I': {fetch.Document, asBytes, ""}, // an image
	':': {fetch.Document, asBytes, ""}, // the same in Gopher+
	'p': {fetch.Document, asBytes, "image/png"},
	's': {fetch.Document, asBytes, ""}, // sound
	'<': {fetch.Document, asBytes, ""}, // the same in Gopher+
	';': {fetch.Document, asBytes, ""}, // a film
	'v': {fetch.Document, asBytes, ""}, // the same
	'h': {fetch.Document, asBytes, "text/html"},
	'd': {fetch.Document, asBytes, ""}, // a document with fonts
	'P': {fetch.Document, asBytes, "application/pdf"},
	'r': {fetch.Document, asBytes, "application/rtf"},
	'x': {fetch.Document, asBytes, "application/xml"},
	'c': {fetch.Document, asBytes, "text/calendar"},
	'e': {fetch.Document, asBytes, ""}, // an event
	'M': {fetch.Document, asText, "message/rfc822"},
	'i': {fetch.Info, asBytes, ""}, // a line of a menu
}

// typeOf is the meaning of c; what nobody knows is taken for binary.
func typeOf(c byte) itemType {
	if c < 128 && itemTypes[c].kind != fetch.Unknown {
		return itemTypes[c]
	}
	return itemType{kind: fetch.Document}
}

// mediaOf is the media type of an item, or "". Where the type character names
// only a family, the name of the selector may tell, and then the first bytes of
// the object, where there are any.
func mediaOf(c byte, selector string, prefix []byte) string {
	t := typeOf(c)
	switch {
	case t.media != "" || t.kind != fetch.Document:
		return t.media
	case c == '5' || c == '9':
		return cmp.Or(media.ByName(selector), "application/octet-stream")
	}
	return media.TypeOf(selector, prefix)
}

// The media types of listings. The first two are names of Gopher+ views.
const (
	menuMedia = "application/gopher-menu"
	plusMedia = "application/gopher+-menu" // attributes of one or many items
	phMedia   = "text/x-ph"                // the lines of a phone book's answer
)

// kindOf is what a media type of Gopher+ turns out to be.
func kindOf(media string) fetch.Kind {
	switch media {
	case menuMedia, plusMedia, phMedia:
		return fetch.Menu
	}
	return fetch.Document
}
