package baseuri

import (
	"bytes"
	"mime"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// MaxHead is the number of bytes of a document that are searched for a base
// element.
const MaxHead = 64 << 10

// baseElement returns the href of the first base element that has an href
// attribute. As in browsers, the element may occur anywhere in the document.
// Surrounding white space and all line breaks are removed, and other spaces are
// percent-encoded.
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

// cleanURL normalizes the white space of an attribute value as browsers do
// before they parse a URL.
func cleanURL(value string) string {
	value = strings.Trim(value, " \t\r\n\f")
	return strings.NewReplacer("\t", "", "\n", "", "\r", "", " ", "%20").Replace(value)
}
