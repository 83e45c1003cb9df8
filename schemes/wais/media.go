package wais

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
