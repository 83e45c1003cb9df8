package render

import (
	"bytes"
	"io"

	"github.com/anyurl/fetch/fetch"
)

// The limits of the preview of a text.
const (
	PreviewSize  = 4 << 10 // bytes that a preview reads
	previewLines = 20

	// maxPreviewed is the maximum size of a text with a preview. A server may have
	// to send more of a text than the preview needs.
	maxPreviewed = 1 << 20
)

// WritePreview writes a page with the first lines of a text, for a frame in a
// listing. An object that is no text has an empty page. The returned error is an
// error of w.
func (v *View) WritePreview(w io.Writer) error {
	var lines []byte
	problem := ""
	if f := v.Form(); f == Text || f == Gemtext {
		start, err := io.ReadAll(io.LimitReader(v.Response.Body, PreviewSize))
		if err != nil {
			problem = v.Problem(err)
		}
		lines = firstLines(start, v.Response.Media)
	}
	p := Preview{v.Page, string(lines), problem}
	p.SetTitle("Preview")
	return execute(w, "preview", p)
}

// A Preview is the data of the template "preview".
type Preview struct {
	Page
	Lines, Problem string
}

// firstLines returns the first lines of a text in UTF-8, whose first bytes are
// start.
func firstLines(start []byte, contentType string) []byte {
	full := len(start) == PreviewSize
	text, _ := io.ReadAll(decodeText(bytes.NewReader(start), contentType)) // the end may be a part of a character
	text = cleanText(trimPartial(text))
	end := 0
	for range previewLines {
		n := bytes.IndexByte(text[end:], '\n') + 1
		if n == 0 {
			n = len(text) - end
		}
		end += n
	}
	if full || end < len(text) {
		return append(bytes.TrimRight(text[:end:end], "\r\n"), "\n…"...)
	}
	return text
}

// hasPreview reports whether a listing shows a preview of the text that i
// describes.
func (i *item) hasPreview() bool {
	kind := i.mediaType()
	return (i.kind == fetch.Document || i.kind == fetch.Unknown) && i.size <= maxPreviewed && isText(kind) && kind != "text/html" && kind != messageMedia
}
