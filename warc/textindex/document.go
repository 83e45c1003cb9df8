package textindex

import (
	"bytes"
	"cmp"
	"io"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/htmltext"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/internal/format/rfc822"
	"github.com/anyurl/fetch/warc"
)

// A document is the text of a capture. Its body has no markup.
type document struct{ title, body string }

const (
	maxText    = 1 << 20 // bytes of a capture whose text is indexed
	maxEntries = 10_000  // entries of a listing whose names are indexed
)

// kindOfLine returns the kind of the text of a capture, or "" if the capture has
// no text.
func kindOfLine(l warc.Line) Kind {
	if l.Status != "" && !strings.HasPrefix(l.Status, "2") {
		return ""
	}
	switch {
	case l.Media == "text/html" || l.Media == "application/xhtml+xml":
		return Page
	case l.Media == "message/rfc822":
		return Article
	case l.Status == "" && entries.KindOf(l.Media) == fetch.Menu:
		return Listing
	case l.Media == "text/css" || l.Media == "text/javascript" || !strings.HasPrefix(l.Media, "text/"):
		return ""
	}
	return Other
}

// read returns the text of a response. It returns an error only if no part of
// the text can be read.
func read(kind Kind, scheme fetch.Scheme, resp *fetch.Response) (document, error) {
	body := io.LimitReader(resp.Body, maxText)
	switch kind {
	case Page:
		text, err := decoded(body, resp.Media)
		const utf8 = "text/html; charset=utf-8"
		return document{htmltext.Title(text, utf8), htmltext.Plain(text, utf8)}, err
	case Article:
		return readArticle(body), nil
	case Listing:
		return readListing(scheme, resp, body), nil
	}
	text, err := decoded(body, resp.Media)
	return document{body: string(text)}, err
}

// decoded returns a text in UTF-8. Of a damaged text, it returns the part before
// the damage.
func decoded(r io.Reader, mediaType string) ([]byte, error) {
	in, err := charset.NewReader(r, mediaType)
	if err == io.EOF { // an empty text
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(in)
	if len(text) > 0 {
		err = nil
	}
	return bytes.ToValidUTF8(text, []byte("\ufffd")), err
}

// readArticle returns the subject, the author and the texts of a message. It
// leaves out the HTML form of a text.
func readArticle(r io.Reader) (d document) {
	head, rest := rfc822.ReadHeader(r)
	header := rfc822.ParseHeader(head)
	d.title = rfc822.DecodeWords(header.Get("Subject"))
	var body strings.Builder
	body.WriteString(rfc822.DecodeWords(header.Get("From")) + "\n")
	plain := false
	for p, err := range rfc822.Parts(io.MultiReader(bytes.NewReader(head), rest)) {
		if err != nil {
			break
		}
		kind := media.TrimParameters(p.Media)
		if kind != "text/plain" && (kind != "text/html" || plain) {
			continue
		}
		content, err := p.Body(func(string, ...any) {})
		if err != nil {
			continue
		}
		text, _ := decoded(io.LimitReader(content, maxText), p.Media)
		if kind == "text/html" {
			text = []byte(htmltext.Plain(text, "text/html; charset=utf-8"))
		}
		plain = plain || kind == "text/plain"
		body.Write(text)
		body.WriteByte('\n')
	}
	d.body = body.String()
	return d
}

// readListing returns the names of the entries of a listing.
func readListing(scheme fetch.Scheme, resp *fetch.Response, r io.Reader) document {
	if scheme.Menu == nil {
		return document{}
	}
	var names strings.Builder
	n := 0
	for e, err := range scheme.Menu(resp.URL, resp.Media, r) {
		if n++; err != nil || n > maxEntries {
			break
		}
		names.WriteString(cmp.Or(e.Name, e.URL.String()) + "\n")
	}
	return document{body: names.String()}
}
