// Package autoindex parses the HTML directory listings that web servers
// generate. A [Reader] returns the entries of a listing, and [IsListing]
// reports whether a page is a listing.
package autoindex

import (
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/uri"
)

// A Reader extracts the entries of a directory listing from HTML tokens. An
// entry is a link to a file or subdirectory of the directory. The date and size
// of the entry, if present, are on the same line before or after the link. A
// Reader must not be used concurrently.
type Reader struct {
	base   uri.URI
	row    row
	before text // text before the link of the next row
	inLink bool // inside a link
	inPre  bool // inside a pre element, where a line end ends a row
	page   evidence
}

// A row is a line of a listing.
type row struct {
	href          string // target of the link, or "" if the row has no link
	before, after text   // text before and after the link
	name          text   // text of the link
	date          string // value of the attribute datetime of a time element
	size          string
}

// New returns a Reader for the page with the URL base.
func New(base uri.URI) *Reader { return &Reader{base: withRoot(base)} }

// withRoot returns u with the path "/" if its path is empty (RFC 9110 section
// 4.2.3).
func withRoot(u uri.URI) uri.URI {
	if u.Path() == "" && u.Host() != "" {
		if root, err := u.WithPath("/"); err == nil {
			return root
		}
	}
	return u
}

// maxText limits each text of a row, in bytes. A text that has reached this
// length does not grow further.
const maxText = 1 << 10

type text string

func (t *text) add(s string) {
	if len(*t) < maxText {
		*t += text(s[:min(len(s), maxText)])
	}
}

// words returns the text with each run of white space replaced by one space.
func (t text) words() string { return strings.Join(strings.Fields(string(t)), " ") }

// Token processes the next token of the page. If the token completes an entry,
// Token returns the entry and true. The last token must be an
// [html.ErrorToken].
func (r *Reader) Token(t html.Token) (e fetch.Entry, ok bool) {
	switch t.Type {
	case html.TextToken:
		return r.text(t.Data)
	case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
		return r.tag(t)
	case html.ErrorToken:
		return r.endRow()
	}
	return e, false
}

func (r *Reader) text(s string) (e fetch.Entry, ok bool) {
	if r.page.countText(s, r.inLink) {
		return e, false
	}
	switch i := strings.LastIndexByte(s, '\n'); {
	case r.inLink:
		r.row.name.add(s)
	case r.inPre && i >= 0:
		line, _, _ := strings.Cut(s, "\n")
		r.row.after.add(line)
		e, ok = r.endRow()
		r.before.add(s[i+1:])
	case r.row.href != "":
		r.row.after.add(s)
	default:
		r.before.add(s)
	}
	return e, ok
}

func (r *Reader) tag(t html.Token) (e fetch.Entry, ok bool) {
	start := t.Type == html.StartTagToken
	r.page.trackTag(t.Data, start, t.Type == html.EndTagToken)
	switch t.Data {
	case "a":
		if start {
			e, ok = r.startRow(attribute(t, "href"))
		}
		r.inLink = start
	case "pre":
		r.inPre = start
		return r.endRow()
	case "tr", "li", "hr", "br", "table", "ul", "address":
		return r.endRow()
	case "time":
		if start && r.row.href != "" {
			r.row.date = attribute(t, "datetime")
		}
	case "td":
		if size := attribute(t, "data-order") + attribute(t, "data-size"); r.row.href != "" && r.row.size == "" {
			r.row.size = size
		}
		r.addSpace()
	default:
		r.addSpace()
	}
	return e, ok
}

// addSpace adds a space between the texts of two HTML elements.
func (r *Reader) addSpace() {
	if r.row.href != "" {
		r.row.after.add(" ")
	} else {
		r.before.add(" ")
	}
}

// startRow starts a new row for the link to href. A second link to the same URL
// continues the current row, because some servers link both the icon and the
// name.
func (r *Reader) startRow(href string) (e fetch.Entry, ok bool) {
	if href != r.row.href {
		before := r.before
		e, ok = r.endRow()
		r.row.before = before
	}
	r.row.href = href
	r.row.name, r.row.after = "", ""
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

// endRow ends the current row. It returns the entry in the row and true, or
// false if the row contains no entry.
func (r *Reader) endRow() (e fetch.Entry, ok bool) {
	line := r.row
	r.row, r.before, r.inLink = row{}, "", false
	if line.href == "" {
		return e, false
	}
	u, _, err := baseuri.ResolveLocation(r.base, line.href)
	if err != nil || !isChild(r.base, u) {
		r.page.countOther(r.base, u, err)
		return e, false
	}
	name := lastSegment(u)
	e = fetch.Entry{URL: u, Name: decodeName(strings.TrimSuffix(name, "/")), Kind: fetch.Document, Size: -1}
	if strings.HasSuffix(name, "/") {
		e.Kind = fetch.Menu
	}
	shown := line.name.words()
	e.Raw = strings.Join(strings.Fields(string(line.before+" "+line.name+" "+line.after)), " ")
	r.page.countChild(&e, shown, line.setDetails(&e))
	return e, true
}

// isChild reports whether u names a file or subdirectory directly in the
// directory of base. Parent directories, links that sort the listing and other
// links are not children.
func isChild(base, u uri.URI) bool {
	_, query := u.Query()
	_, fragment := u.Fragment()
	dir := dirPath(base)
	name, ok := strings.CutPrefix(u.Path(), dir)
	name = strings.TrimSuffix(name, "/")
	if plain, err := uri.Unescape(name); err != nil || plain == "." || plain == ".." {
		return false
	}
	return ok && !query && !fragment && sameSite(base, u) && dir != "" && name != "" && !strings.Contains(name, "/")
}

// dirPath returns the path of base up to and including the last slash.
func dirPath(base uri.URI) string { return base.Path()[:strings.LastIndexByte(base.Path(), '/')+1] }

func sameSite(base, u uri.URI) bool {
	here, _ := base.WithoutUserinfo().Authority()
	there, _ := u.Authority()
	return u.Scheme() == base.Scheme() && here == there
}

// lastSegment returns the last segment of the path of u. If u names a
// directory, the segment includes the final slash.
func lastSegment(u uri.URI) string {
	path := u.Path()
	return path[strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/')+1:]
}

// decodeName returns a path segment after percent-decoding. If the decoded name
// contains a slash or NUL, decodeName returns the segment unchanged.
func decodeName(segment string) string {
	name, err := uri.Unescape(segment)
	if err != nil || strings.ContainsAny(name, "/\x00") {
		return segment
	}
	return name
}

// setDetails sets the date and size of e from the texts after and before the
// link, and from the attributes of the row. It reports whether the row has a
// date. Servers do not state a time zone, so dates are interpreted as UTC, the
// default of nginx. A rounded size is stored in Extra instead of Size.
func (r *row) setDetails(e *fetch.Entry) bool {
	found := readDetail(e, r.after.words()) || readDetail(e, r.before.words())
	if t, err := time.Parse(time.RFC3339, strings.TrimSpace(r.date)); err == nil {
		e.Time, found = t.UTC(), true
	}
	if n, err := strconv.ParseInt(r.size, 10, 64); err == nil && n >= 0 && e.Kind != fetch.Menu {
		e.Size, e.Extra = n, nil
	}
	return found
}
