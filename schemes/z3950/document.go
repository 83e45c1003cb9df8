package z3950

import (
	"bytes"
	"encoding/xml"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/z3950/apdu"
	"github.com/anyurl/fetch/schemes/internal/textform"
)

const textMedia = "text/plain; charset=utf-8"

// document returns the media type and the content of a record.
func (l locator) document(r apdu.Record) (media string, body []byte, err error) {
	switch r.Syntax {
	case apdu.USMARC, apdu.UNIMARC:
		if l.syntaxes != nil {
			return "application/marc", r.Data, nil
		}
		if m, ok := parseMARC(r.Data); ok {
			if text, ok := m.text(); ok {
				return textMedia, text, nil
			}
		}
		return "application/marc", r.Data, nil
	case apdu.GRS1:
		b, err := genericText(r.Data)
		if err != nil {
			return "", nil, fetch.Protocol.With(err)
		}
		return textMedia, b, nil
	case apdu.SUTRS:
		return textMedia, textform.UTF8Bytes(r.Data), nil
	case apdu.XML:
		return "application/xml", r.Data, nil
	case apdu.HTML:
		return "text/html", r.Data, nil
	}
	return "application/octet-stream", r.Data, nil
}

// title returns the title of a record for a listing, or "".
func title(r apdu.Record) string {
	var text string
	switch r.Syntax {
	case apdu.USMARC, apdu.UNIMARC:
		if m, ok := parseMARC(r.Data); ok {
			text = m.title(r.Syntax)
		}
	case apdu.XML:
		text = xmlTitle(r.Data)
	case apdu.SUTRS:
		for line := range strings.Lines(textform.UTF8(r.Data[:min(len(r.Data), maxTitle)])) {
			if text = strings.TrimSpace(line); text != "" {
				break
			}
		}
	case apdu.GRS1:
		text, _ = genericTitle(r.Data)
	}
	text = strings.ToValidUTF8(text[:min(len(text), maxTitleText)], "")
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxTitle {
		text = strings.ToValidUTF8(text[:maxTitle], "")
	}
	return text
}

const (
	maxTitle     = 500      // bytes of a title
	maxTitleText = 64 << 10 // bytes of a title that are divided into words
)

// maxTokens and maxXML are the maximum number of XML tokens and of bytes that are
// searched for a title. A token with many attributes needs much memory.
const (
	maxTokens = 5000
	maxXML    = 256 << 10
)

// xmlTitle returns the title in a MARCXML record (field 245 or 200, subfields a
// and b) or in the first element with the name "title".
func xmlTitle(data []byte) string {
	d := xml.NewDecoder(bytes.NewReader(data[:min(len(data), maxXML)]))
	var inTitle, inField, inSubfield bool
	var parts []string
	for range maxTokens {
		token, err := d.Token()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch {
			case t.Name.Local == "datafield":
				tag := attributeOf(t, "tag")
				inField = tag == "245" || tag == "200"
			case t.Name.Local == "subfield":
				code := attributeOf(t, "code")
				inSubfield = inField && (code == "a" || code == "b")
			case t.Name.Local == "title":
				inTitle = true
			}
		case xml.CharData:
			if inTitle || inSubfield {
				parts = append(parts, string(t))
			}
		case xml.EndElement:
			if (t.Name.Local == "title" || t.Name.Local == "datafield") && len(parts) > 0 {
				return strings.Join(parts, " ")
			}
			inTitle, inSubfield = false, false
		}
	}
	return strings.Join(parts, " ")
}

func attributeOf(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
