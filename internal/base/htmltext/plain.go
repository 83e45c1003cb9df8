package htmltext

import (
	"bytes"
	"cmp"
	"mime"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Plain returns the text of an HTML page without its title, scripts and style
// sheets. White space is collapsed. The media type gives the charset, as in [Title].
func Plain(page []byte, media string) string {
	_, params, _ := mime.ParseMediaType(media)
	charset := params["charset"]
	var text strings.Builder
	var element atom.Atom // element of the last start tag, or 0 after an end tag
	z := html.NewTokenizer(bytes.NewReader(page))
	z.SetMaxBuf(maxToken)
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return strings.Join(strings.Fields(DecodeText(text.String(), charset)), " ")
		}
		t := z.Token()
		switch kind {
		case html.TextToken:
			if !hasRawText(element) {
				text.WriteString(t.Data)
			}
			continue
		case html.StartTagToken:
			if element = t.DataAtom; element == atom.Meta {
				charset = cmp.Or(charset, MetaCharset(t))
			}
		case html.EndTagToken:
			element = 0
		}
		if !isInline(t.DataAtom) {
			text.WriteByte(' ')
		}
	}
}

// hasRawText reports whether Plain ignores the content of an element, such
// as a script.
func hasRawText(element atom.Atom) bool {
	switch element {
	case atom.Script, atom.Style, atom.Title, atom.Textarea, atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript:
		return true
	}
	return false
}

// isInline reports whether an element can occur within a word.
func isInline(element atom.Atom) bool {
	switch element {
	case atom.A, atom.Abbr, atom.B, atom.Code, atom.Em, atom.Font, atom.I, atom.Mark, atom.S, atom.Small, atom.Span,
		atom.Strong, atom.Sub, atom.Sup, atom.Tt, atom.U, atom.Wbr:
		return true
	}
	return false
}
