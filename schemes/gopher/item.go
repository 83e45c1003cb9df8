package gopher

import (
	"path"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A framing says how the answer for an item ends.
type framing uint8

const (
	raw   framing = iota // bytes up to the close
	text                 // lines, perhaps up to one of a dot
	lines                // a menu: the same, but its lines are passed on as sent
)

// An itemType is what a type character means: RFC 1436 3.8, the Gopher+ memo,
// and what servers have added since.
type itemType struct {
	kind    fetch.Kind
	framing framing
	media   string // "": the name may tell
}

var itemTypes = [128]itemType{
	'0': {fetch.Document, text, "text/plain"},
	'1': {fetch.Menu, lines, menuMedia},
	'2': {fetch.Index, lines, phMedia},
	'3': {fetch.Info, raw, ""}, // an error
	'4': {fetch.Document, raw, "application/mac-binhex40"},
	'5': {fetch.Document, raw, ""}, // an archive of DOS
	'6': {fetch.Document, text, "text/x-uuencode"},
	'7': {fetch.Index, lines, menuMedia},
	'8': {fetch.Session, raw, ""}, // telnet
	'9': {fetch.Document, raw, ""},
	'T': {fetch.Session, raw, ""}, // tn3270
	'g': {fetch.Document, raw, "image/gif"},
	'I': {fetch.Document, raw, ""}, // an image
	':': {fetch.Document, raw, ""}, // the same in Gopher+
	'p': {fetch.Document, raw, "image/png"},
	's': {fetch.Document, raw, ""}, // sound
	'<': {fetch.Document, raw, ""}, // the same in Gopher+
	';': {fetch.Document, raw, ""}, // a film
	'v': {fetch.Document, raw, ""}, // the same
	'h': {fetch.Document, raw, "text/html"},
	'd': {fetch.Document, raw, ""}, // a document with fonts
	'P': {fetch.Document, raw, "application/pdf"},
	'r': {fetch.Document, raw, "application/rtf"},
	'x': {fetch.Document, raw, "application/xml"},
	'c': {fetch.Document, raw, "text/calendar"},
	'e': {fetch.Document, raw, ""}, // an event
	'M': {fetch.Document, text, "message/rfc822"},
	'i': {fetch.Info, raw, ""}, // a line of a menu
}

// typeOf is the meaning of c; what nobody knows is taken for binary.
func typeOf(c byte) itemType {
	if c < 128 && itemTypes[c].kind != fetch.Unknown {
		return itemTypes[c]
	}
	return itemType{kind: fetch.Document}
}

// mediaOf is the media type of an item, or "".
func mediaOf(c byte, selector string) string {
	t := typeOf(c)
	if t.media != "" || t.kind != fetch.Document {
		return t.media
	}
	if m, ok := extensions[strings.ToLower(path.Ext(selector))]; ok {
		return m
	}
	if c == '5' || c == '9' {
		return "application/octet-stream"
	}
	return ""
}

// extensions tell the media types of items whose type character names a
// family only. They stand here because the tables of systems differ.
var extensions = map[string]string{
	".7z": "application/x-7z-compressed", ".arc": "application/x-arc", ".bz2": "application/x-bzip2",
	".gz": "application/gzip", ".lha": "application/x-lzh-compressed", ".lzh": "application/x-lzh-compressed",
	".tar": "application/x-tar", ".tgz": "application/gzip", ".xz": "application/x-xz", ".z": "application/x-compress",
	".zip": "application/zip", ".zst": "application/zstd",
	".doc": "application/msword", ".epub": "application/epub+zip", ".odt": "application/vnd.oasis.opendocument.text",
	".pdf": "application/pdf", ".ps": "application/postscript", ".rtf": "application/rtf",
	".bmp": "image/bmp", ".gif": "image/gif", ".jpeg": "image/jpeg", ".jpg": "image/jpeg", ".pcx": "image/vnd.zbrush.pcx",
	".png": "image/png", ".svg": "image/svg+xml", ".tif": "image/tiff", ".tiff": "image/tiff", ".webp": "image/webp",
	".aiff": "audio/aiff", ".au": "audio/basic", ".flac": "audio/flac", ".mid": "audio/midi", ".mp3": "audio/mpeg",
	".ogg": "audio/ogg", ".opus": "audio/ogg", ".snd": "audio/basic", ".wav": "audio/wav",
	".avi": "video/x-msvideo", ".mkv": "video/matroska", ".mov": "video/quicktime", ".mp4": "video/mp4",
	".mpeg": "video/mpeg", ".mpg": "video/mpeg", ".webm": "video/webm",
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
