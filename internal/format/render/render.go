// Package render writes documents of all schemes as HTML pages: listings,
// articles, texts and images. Live pages, archives and static files share it.
//
// The documents are untrusted. The pages contain no script, html/template
// escapes all text, and a [Links] makes every link.
package render

import (
	"context"
	"crypto/sha256"
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/format/crumbs"
	"github.com/anyurl/fetch/uri"
)

// Links creates the links of a page. Its methods return relative or absolute
// references, which are written to the page without a check. The result "" means
// that there is no link.
type Links interface {
	Page(u uri.URI) string                // a page that shows the object at u
	Bytes(u uri.URI) string               // the bytes of the object at u
	Inline(u uri.URI) string              // the bytes of the image at u, for use inside the page
	Preview(u uri.URI) string             // the first lines of the text at u, from WritePreview, for a frame in the page
	Part(u uri.URI, number string) string // a part of the message at u, such as "1.2"

	// Sorted returns the page of the same listing with another order or number.
	// The column is "" or one of Order.Column, with the prefix "-" for
	// descending order. The number of the first page is 1.
	Sorted(column string, number int) string

	// Query returns the action and the hidden fields of an HTML form that sends
	// a query to the object at u. A search form uses the method GET, and sends
	// the words as [WordsField]. The form of a Gopher+ item uses the method
	// POST. The names of its fields are their numbers, as in
	// [askform.Form.Fill], and the last value of a field is its answer.
	Query(u uri.URI) (action string, hidden []Field, ok bool)
}

// A Field is a field of an HTML form, with its name and its value.
type Field struct{ Name, Value string }

// A Form is the way in which a document is displayed, such as a listing or
// text.
type Form uint8

const (
	Download Form = iota // the bytes, as a file
	Web                  // an HTML page, whose links the caller rewrites
	Listing
	Search  // an index without a listing
	Ask     // the form of a Gopher+ item
	Session // an explanation of an interactive session
	Gemtext
	Message
	Image
	Text
)

// A View shows a document as a page. The fields URL, Scheme, Schemes, Links and
// Problem are required. For the form of a Gopher+ item, URL ends with the command "?",
// and Response contains the attributes of the item.
type View struct {
	URL      uri.URI
	Response *fetch.Response                // with the media type; nil for a session; the caller closes the body
	Scheme   fetch.Scheme                   // the scheme of URL
	Schemes  func(name string) fetch.Scheme // the schemes of links
	Links    Links
	Page     Page               // the frame; without a title, the View derives one from URL
	Problem  func(error) string // describes an error of the body in a sentence

	Order  Order // order of the entries of a listing
	Number int   // number of the page of a listing, from 1; 0 means 1

	// Skipped is the number of entries that Scheme.Menu omits at the start of
	// the listing. A caller sets it if it writes several pages of a listing
	// without reading the earlier entries again.
	Skipped int
}

// Form returns the way in which the document is displayed.
func (v *View) Form() Form {
	switch {
	case v.Response == nil || v.Response.Kind == fetch.Session:
		return Session
	case v.Response.Kind == fetch.Index:
		return Search
	case v.isAsk():
		return Ask
	}
	kind := media.TrimParameters(v.Response.Media)
	switch {
	case v.Response.Kind == fetch.Menu && kind == gemtextMedia && v.Scheme.Menu != nil:
		return Gemtext
	case v.Response.Kind == fetch.Menu && !v.Scheme.Traits.Web && v.Scheme.Menu != nil:
		return Listing
	case kind == "text/html" || kind == "application/xhtml+xml":
		return Web
	case kind == "message/rfc822":
		return Message
	case strings.HasPrefix(kind, "image/"):
		return Image
	case isText(kind):
		return Text
	}
	return Download
}

// isText reports whether documents of a media type are shown as text.
func isText(kind string) bool {
	switch kind {
	case "application/json", "application/javascript", "application/xml", "application/x-sh", "application/ld+json":
		return true
	}
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "+json") ||
		strings.HasPrefix(kind, "application/x-ndjson")
}

// Write writes the page. The result of Form must not be Download or Web. Errors
// of the body are described in the page. The returned error is an error of w.
func (v *View) Write(ctx context.Context, w io.Writer) error {
	_, err := v.WritePage(ctx, w)
	return err
}

// A Rest describes how far a listing has been written, and whether another page
// follows.
type Rest struct {
	Shown int  // number of entries from Scheme.Menu on this page and earlier pages
	More  bool // there is another page
}

// WritePage is like Write. If the object is a listing, it also returns the Rest
// of the listing.
func (v *View) WritePage(ctx context.Context, w io.Writer) (rest Rest, err error) {
	shown := *v
	v = &shown
	if v.Response != nil {
		resp := *v.Response
		resp.Body = &digester{ReadCloser: resp.Body, hash: sha256.New()}
		v.Response = &resp
	}
	if v.Page.Title == "" {
		v.Page.SetTitle(crumbs.Name(v.Scheme, v.URL))
	}
	for _, c := range crumbs.Of(v.Scheme, v.URL.WithoutUserinfo()) {
		if path := v.Links.Page(c.URL); path != "" {
			v.Page.Crumbs = append(v.Page.Crumbs, Link{Name: tty.Escape(c.Name), Path: path})
		}
	}
	form := v.Form()
	if b := v.Page.Banner; b != nil && (form == Search || form == Session) { // no bytes to link to
		v.Page.Banner = &Banner{Label: b.Label, URL: b.URL, Facts: b.Facts}
	}
	switch form {
	case Listing:
		return v.listing(ctx, w)
	case Search:
		return rest, v.search(w)
	case Ask:
		return rest, v.ask(ctx, w)
	case Session:
		return rest, v.session(w)
	case Gemtext:
		return rest, v.gemtext(ctx, w)
	case Message:
		return rest, v.message(ctx, w)
	case Image:
		return rest, v.image(w)
	}
	return rest, v.text(ctx, w)
}
