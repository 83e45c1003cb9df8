package baseuri

import (
	"bytes"
	"mime"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// MaxHead is how much of a document is searched for a base element.
const MaxHead = 64 << 10

// element returns the href of the first base element that has one, as the HTML
// standard reads it: without space around it and line breaks in it, other spaces
// encoded. Only the first counts, and wherever it stands, as in browsers.
func element(media string, head []byte) (href string, ok bool) {
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
					return clean(string(value)), true
				}
			}
		}
	}
}

func isHTML(media string) bool {
	name, _, err := mime.ParseMediaType(media)
	return (err == nil || err == mime.ErrInvalidMediaParameter) && (name == "text/html" || name == "application/xhtml+xml")
}

// clean does to the value of an attribute what browsers do before they read a URL.
func clean(value string) string {
	value = strings.Trim(value, " \t\r\n\f")
	return strings.NewReplacer("\t", "", "\n", "", "\r", "", " ", "%20").Replace(value)
}
