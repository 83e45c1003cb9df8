package wais

import "unicode/utf8"

// sourceType is the WAIS type of a document that describes a database.
const sourceType = "WSRC"

const sourceMedia = "application/x-wais-source"

// medias maps WAIS document types to media types.
var medias = map[string]string{
	"TEXT":     "text/plain",
	"HTML":     "text/html",
	"GIF":      "image/gif",
	"JPEG":     "image/jpeg",
	"TIFF":     "image/tiff",
	"PICT":     "image/x-pict",
	"PS":       "application/postscript",
	"DVI":      "application/x-dvi",
	"PDF":      "application/pdf",
	"MIME":     "message/rfc822",
	"URL":      "text/plain",
	sourceType: sourceMedia,
}

func mediaOf(kind string) string {
	if m, ok := medias[kind]; ok {
		return m
	}
	return "application/octet-stream"
}

// latin1 converts ISO 8859-1 text to UTF-8. The protocol does not specify a
// charset, and its servers used ISO 8859-1.
func latin1(text []byte) string {
	if utf8.Valid(text) {
		return string(text)
	}
	runes := make([]rune, len(text))
	for i, c := range text {
		runes[i] = rune(c)
	}
	return string(runes)
}
