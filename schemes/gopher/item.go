package gopher

import (
	"cmp"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
)

// A framing determines how the end of a response is recognized, for example by
// a final "." line.
type framing uint8

const (
	rawFraming  framing = iota // until the connection is closed
	textFraming                // lines, optionally followed by the line "."
	menuFraming                // like textFraming, but the "." line is kept in the body
)

// An itemType describes one of the Gopher item types, such as 0 for a text. The
// types come from RFC 1436 section 3.8, the Gopher+ memo and common servers.
type itemType struct {
	kind    fetch.Kind
	framing framing
	media   string // media type, or "" if it depends on the selector
}

var itemTypes = [128]itemType{
	'0': {fetch.Document, textFraming, "text/plain"},
	'1': {fetch.Menu, menuFraming, menuMedia},
	'2': {fetch.Index, menuFraming, phMedia},
	'3': {fetch.Info, rawFraming, ""}, // error message
	'4': {fetch.Document, rawFraming, "application/mac-binhex40"},
	'5': {fetch.Document, rawFraming, ""}, // DOS archive
	'6': {fetch.Document, textFraming, "text/x-uuencode"},
	'7': {fetch.Index, menuFraming, menuMedia},
	'8': {fetch.Session, rawFraming, ""}, // telnet
	'9': {fetch.Document, rawFraming, ""},
	'T': {fetch.Session, rawFraming, ""}, // tn3270
	'g': {fetch.Document, rawFraming, "image/gif"},
	'I': {fetch.Document, rawFraming, ""}, // image
	':': {fetch.Document, rawFraming, ""}, // image in Gopher+, like type I
	'p': {fetch.Document, rawFraming, "image/png"},
	's': {fetch.Document, rawFraming, ""}, // audio
	'<': {fetch.Document, rawFraming, ""}, // audio in Gopher+, like type s
	';': {fetch.Document, rawFraming, ""}, // video
	'v': {fetch.Document, rawFraming, ""}, // video
	'h': {fetch.Document, rawFraming, "text/html"},
	'd': {fetch.Document, rawFraming, ""}, // word processor document
	'P': {fetch.Document, rawFraming, "application/pdf"},
	'r': {fetch.Document, rawFraming, "application/rtf"},
	'x': {fetch.Document, rawFraming, "application/xml"},
	'c': {fetch.Document, rawFraming, "text/calendar"},
	'e': {fetch.Document, rawFraming, ""}, // calendar event
	'M': {fetch.Document, textFraming, "message/rfc822"},
	'i': {fetch.Info, rawFraming, ""}, // informational text in a menu
}

// typeOf returns the properties of the item type c. It treats an unknown type
// as a binary file.
func typeOf(c byte) itemType {
	if c < 128 && itemTypes[c].kind != fetch.Unknown {
		return itemTypes[c]
	}
	return itemType{kind: fetch.Document}
}

// mediaOf returns the media type of an item of type c, or "". If the item type
// names only a family of media types, such as images, mediaOf uses the file name
// in the selector. It then uses prefix, the first bytes of the object.
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

// Media types of listings. The first two are also names of Gopher+ views.
const (
	menuMedia = "application/gopher-menu"
	plusMedia = "application/gopher+-menu" // attributes of one or more items
	phMedia   = "text/x-ph"                // response lines of a phone book server
)

// kindOf returns fetch.Menu for the media types of listings, and fetch.Document
// for all others.
func kindOf(media string) fetch.Kind {
	switch media {
	case menuMedia, plusMedia, phMedia:
		return fetch.Menu
	}
	return fetch.Document
}
