package htmltext

import (
	"bytes"
	"cmp"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/encoding/charmap"
)

// MaxTitleOffset is the number of bytes of a page that Title reads.
const MaxTitleOffset = 64 << 10

// Title returns the text of the first title element, which must precede the
// body and any SVG. White space is collapsed. The page is the start of an HTML
// page in any charset, and media is its media type.
func Title(page []byte, media string) string {
	_, params, _ := mime.ParseMediaType(media)
	charset := params["charset"]
	z := html.NewTokenizer(bytes.NewReader(page[:min(len(page), MaxTitleOffset)]))
	z.SetMaxBuf(MaxTitleOffset)
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return ""
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		switch t := z.Token(); t.DataAtom {
		case atom.Svg, atom.Body:
			return ""
		case atom.Meta:
			charset = cmp.Or(charset, MetaCharset(t))
		case atom.Title:
			if z.Next() != html.TextToken {
				return ""
			}
			return strings.Join(strings.Fields(DecodeText(z.Token().Data, charset)), " ")
		}
	}
}

// MetaCharset returns the encoding that a meta element declares, or "".
func MetaCharset(t html.Token) string {
	for _, at := range t.Attr {
		switch at.Key {
		case "charset":
			return at.Val
		case "content":
			if _, params, err := mime.ParseMediaType(at.Val); err == nil && params["charset"] != "" {
				return params["charset"]
			}
		}
	}
	return ""
}

// DecodeText returns text in UTF-8. It decodes windows-1252, which it also
// assumes for pages that declare no encoding or ISO 8859-1. It returns "" for
// text in another encoding.
func DecodeText(text, charset string) string {
	if utf8.ValidString(text) {
		return text
	}
	switch strings.ToLower(charset) {
	case "", "windows-1252", "iso-8859-1", "latin1", "us-ascii":
		text, _ = charmap.Windows1252.NewDecoder().String(text)
		return text
	}
	return ""
}
