// Package page prepares responses for display: listings with numbered entries,
// texts, and HTML pages as text with numbered links. It does not depend on a
// terminal.
package page

import (
	"cmp"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/crumbs"
	"github.com/anyurl/fetch/uri"
)

// A Kind is the form in which a page is displayed.
type Kind uint8

const (
	Listing Kind = iota // a listing, in Page.Items
	Text                // a text, in Page.Text, with its numbered links in Page.Items
	Search              // a searchable index without a listing
	File                // a binary object, which can be saved but not displayed
)

// A Page is an object that is prepared for display. Its texts come from a
// server and can contain control characters.
type Page struct {
	Kind  Kind
	URL   uri.URI // URL of the object, after redirects
	Title string  // title of an HTML page, or the last part of the URL
	Media string  // media type, or "" if unknown
	Size  int64   // in bytes, or -1 if unknown
	Time  time.Time

	// Items contains the entries of a listing, or the links of an HTML page.
	Items []Item

	// Text contains the lines of a text. In an HTML page, the number of each
	// link follows the text of the link, as in "text[3]".
	Text string

	// Truncated reports whether the object exceeded a limit, so that the end is
	// missing in Items or Text.
	Truncated bool

	link   func(uri.URI) *fetch.Request
	memory int // of Items, in bytes
}

// An Item is one line of a listing, or a link of a text.
type Item struct {
	Number int // from 1; 0 if the entry has no URL
	fetch.Entry
}

// Len returns the number of the last item that can be opened.
func (p *Page) Len() int {
	n := 0
	for _, item := range p.Items {
		n = max(n, item.Number)
	}
	return n
}

// Item returns the item with the given number.
func (p *Page) Item(number int) (Item, bool) {
	for _, item := range p.Items {
		if item.Number == number && number > 0 {
			return item, true
		}
	}
	return Item{}, false
}

// Request returns a request for a URL in the page. The Policy treats the URL as
// supplied by the page.
func (p *Page) Request(u uri.URI) *fetch.Request {
	if p.link == nil {
		return &fetch.Request{URL: u, From: &fetch.Source{}}
	}
	return p.link(u)
}

// Memory returns the approximate number of bytes that the page occupies.
func (p *Page) Memory() int { return len(p.Text) + p.memory }

// itemMemory returns the approximate memory of an item, in bytes.
func itemMemory(e fetch.Entry) int {
	n := 300 + len(e.Name) + len(e.Raw) + len(e.Media) + 2*len(e.URL.String())
	for k, v := range e.Extra {
		n += 50 + len(k) + len(v)
	}
	return n
}

// New returns a Page with a listing that is not the response of a server, such
// as the contents of an archive.
func New(title string) *Page { return &Page{Kind: Listing, Title: title, Size: -1} }

// NewSearch returns the Page for u, a searchable index of the scheme s whose URL
// contains no search words.
func NewSearch(s fetch.Scheme, u uri.URI) *Page {
	return &Page{Kind: Search, URL: u.WithoutUserinfo(), Title: crumbs.Name(s, u), Size: -1}
}

// Add adds an entry to a listing. It returns false if the page has reached its
// limit. The memory is limited too, because a page with a long base URL can have
// many short links.
func (p *Page) Add(e fetch.Entry, o Options) bool {
	e.Raw = "" // not displayed
	memory := p.memory + itemMemory(e)
	if len(p.Items) >= cmp.Or(o.MaxItems, maxItems) || memory > 2*int(cmp.Or(o.MaxBytes, maxBytes)) {
		p.Truncated = true
		return false
	}
	p.memory = memory
	item := Item{Entry: e}
	if !e.URL.IsZero() {
		item.Number = p.next()
	}
	p.Items = append(p.Items, item)
	return true
}

// next returns the number of the next item.
func (p *Page) next() int {
	for i := len(p.Items) - 1; i >= 0; i-- {
		if n := p.Items[i].Number; n > 0 {
			return n + 1
		}
	}
	return 1
}
