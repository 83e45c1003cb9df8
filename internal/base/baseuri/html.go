package baseuri

import (
	"bytes"
	"mime"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// MaxHead is the maximum number of bytes of a document that [Of] searches for
// an HTML base element.
const MaxHead = 64 << 10

// baseElement returns the base URI that an HTML document states. It is the href
// attribute of the first base element that has this attribute. Like browsers,
// baseElement accepts the element anywhere in the document. It removes
// surrounding white space and line breaks, and percent-encodes other spaces.
func baseElement(media string, head []byte) (href string, ok bool) {
	if !isHTML(media) {
		return "", false
	}
	z := html.NewTokenizer(bytes.NewReader(head[:min(len(head), MaxHead)]))
	z.SetMaxBuf(MaxHead)
	for {
		switch z.Next() {
		case html.ErrorToken:
			return "", false
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			if atom.Lookup(name) != atom.Base {
				continue
			}
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				if string(key) == "href" {
					return cleanURL(string(value)), true
				}
			}
		}
	}
}

func isHTML(media string) bool {
	name, _, err := mime.ParseMediaType(media)
	return (err == nil || err == mime.ErrInvalidMediaParameter) && (name == "text/html" || name == "application/xhtml+xml")
}

// cleanURL normalizes the white space in a URL attribute. It follows the rules
// that browsers apply before they parse a URL.
func cleanURL(value string) string {
	value = strings.Trim(value, " \t\r\n\f")
	return whiteSpace.Replace(value)
}

// whiteSpace removes tabs and line breaks, and escapes spaces.
var whiteSpace = strings.NewReplacer("\t", "", "\n", "", "\r", "", " ", "%20")
