// Package autoindex reads the pages that web servers make of directories: a
// [Reader] finds the entries, and [Is] tells such a page from an ordinary one.
package autoindex

import (
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/baseuri"
	"github.com/anyurl/fetch/uri"
)

// A Reader finds the entries of a listing in its tokens: links to what lies in
// the directory, one in a line, with date and size before or behind it or
// without. It is not safe for concurrent use.
type Reader struct {
	base uri.URI
	row  row
	lead text // of the next row: what stands before its link
	in   bool // within the link
	pre  bool // line ends count
	page evidence
}

// A row is one line of a listing.
type row struct {
	href       string // "": none
	lead, tail text   // what stands before and behind the link
	name       text   // of the link
	when       string // as an attribute states it
	size       string
}

// New returns a Reader of the page at base.
func New(base uri.URI) *Reader { return &Reader{base: base} }

// maxText bounds what is kept of one text.
const maxText = 1 << 10

type text string

func (t *text) add(s string) {
	if len(*t) < maxText {
		*t += text(s[:min(len(s), maxText)])
	}
}

// words returns the text with single spaces.
func (t text) words() string { return strings.Join(strings.Fields(string(t)), " ") }

// Token takes the next token of the page and returns the entry that it ends,
// if it ends one. The last token is the [html.ErrorToken].
func (r *Reader) Token(t html.Token) (e fetch.Entry, ok bool) {
	switch t.Type {
	case html.TextToken:
		return r.text(t.Data)
	case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
		return r.tag(t)
	case html.ErrorToken:
		return r.flush()
	}
	return e, false
}

func (r *Reader) text(s string) (e fetch.Entry, ok bool) {
	if r.page.text(s, r.in) {
		return e, false
	}
	switch i := strings.LastIndexByte(s, '\n'); {
	case r.in:
		r.row.name.add(s)
	case r.pre && i >= 0:
		line, _, _ := strings.Cut(s, "\n")
		r.row.tail.add(line)
		e, ok = r.flush()
		r.lead.add(s[i+1:])
	case r.row.href != "":
		r.row.tail.add(s)
	default:
		r.lead.add(s)
	}
	return e, ok
}

func (r *Reader) tag(t html.Token) (e fetch.Entry, ok bool) {
	start := t.Type == html.StartTagToken
	r.page.tag(t.Data, start, t.Type == html.EndTagToken)
	switch t.Data {
	case "a":
		if start {
			e, ok = r.link(attribute(t, "href"))
		}
		r.in = start
	case "pre":
		r.pre = start
		return r.flush()
	case "tr", "li", "hr", "br", "table", "ul", "address":
		return r.flush()
	case "time":
		if start && r.row.href != "" {
			r.row.when = attribute(t, "datetime")
		}
	case "td":
		if size := attribute(t, "data-order") + attribute(t, "data-size"); r.row.href != "" && r.row.size == "" {
			r.row.size = size
		}
		r.space()
	default:
		r.space()
	}
	return e, ok
}

// space keeps what two elements hold apart.
func (r *Reader) space() {
	if r.row.href != "" {
		r.row.tail.add(" ")
	} else {
		r.lead.add(" ")
	}
}

// link begins a row, unless the link of an icon before the name has begun it.
func (r *Reader) link(href string) (e fetch.Entry, ok bool) {
	if href != r.row.href {
		lead := r.lead
		e, ok = r.flush()
		r.row.lead = lead
	}
	r.row.href = href
	r.row.name, r.row.tail = "", ""
	return e, ok
}

func attribute(t html.Token, name string) string {
	for _, attr := range t.Attr {
		if attr.Key == name {
			return attr.Val
		}
	}
	return ""
}

// flush ends the row under way.
func (r *Reader) flush() (e fetch.Entry, ok bool) {
	line := r.row
	r.row, r.lead, r.in = row{}, "", false
	if line.href == "" {
		return e, false
	}
	u, _, err := baseuri.ResolveLocation(r.base, line.href)
	if err != nil || !below(r.base, u) {
		r.page.other(r.base, u, err)
		return e, false
	}
	name := lastSegment(u)
	e = fetch.Entry{URL: u, Name: decoded(strings.TrimSuffix(name, "/")), Kind: fetch.Document, Size: -1}
	if strings.HasSuffix(name, "/") {
		e.Kind = fetch.Menu
	}
	shown := line.name.words()
	e.Raw = strings.Join(strings.Fields(string(line.lead+" "+line.name+" "+line.tail)), " ")
	r.page.child(&e, shown, line.detail(&e))
	return e, true
}

// below reports whether u lies directly in the directory of base: parents,
// sorted views and the rest of the page do not.
func below(base, u uri.URI) bool {
	_, query := u.Query()
	_, fragment := u.Fragment()
	dir := folder(base)
	name, ok := strings.CutPrefix(u.Path(), dir)
	name = strings.TrimSuffix(name, "/")
	if plain, err := uri.Unescape(name); err != nil || plain == "." || plain == ".." {
		return false
	}
	return ok && !query && !fragment && sameSite(base, u) && dir != "" && name != "" && !strings.Contains(name, "/")
}

// folder returns the path of base up to its last slash.
func folder(base uri.URI) string { return base.Path()[:strings.LastIndexByte(base.Path(), '/')+1] }

func sameSite(base, u uri.URI) bool {
	here, _ := base.WithoutUserinfo().Authority()
	there, _ := u.Authority()
	return u.Scheme() == base.Scheme() && here == there
}

// lastSegment is the end of the path, with the slash of a directory.
func lastSegment(u uri.URI) string {
	path := u.Path()
	return path[strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/')+1:]
}

// decoded is the name in a segment, or the segment where its name could not
// stand in a listing.
func decoded(segment string) string {
	name, err := uri.Unescape(segment)
	if err != nil || strings.ContainsAny(name, "/\x00") {
		return segment
	}
	return name
}

// detail reads date and size, from attributes or from the text behind the link
// or before it. Servers name no time zone: nginx means UTC, and so is every
// other taken. A size that was rounded is no Size. It reports whether there is
// a date.
func (r *row) detail(e *fetch.Entry) bool {
	found := readDetail(e, r.tail.words()) || readDetail(e, r.lead.words())
	if t, err := time.Parse(time.RFC3339, strings.TrimSpace(r.when)); err == nil {
		e.Time, found = t.UTC(), true
	}
	if n, err := strconv.ParseInt(r.size, 10, 64); err == nil && n >= 0 && e.Kind != fetch.Menu {
		e.Size, e.Extra = n, nil
	}
	return found
}
