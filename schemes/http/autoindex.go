package http

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// An autoindex reads the page that a server makes of a directory: links to
// what lies in it, each with a date and a size behind it, or without.
type autoindex struct {
	base uri.URI
	href string // of the line under way; "": none
	name text   // of the link
	tail text   // what stands behind it
	in   bool   // within the link
}

// text is the text of a line, as far as it is kept.
type text struct{ strings.Builder }

func (t *text) add(s string) {
	if t.Len() < maxText {
		t.WriteString(s[:min(len(s), maxText)])
	}
}

func (a *autoindex) token(t html.Token) (e fetch.Entry, ok bool) {
	switch t.Type {
	case html.TextToken:
		if a.in {
			a.name.add(t.Data)
		} else {
			a.tail.add(t.Data)
		}
	case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
		return a.tag(t)
	case html.ErrorToken:
		return a.flush()
	}
	return e, false
}

func (a *autoindex) tag(t html.Token) (e fetch.Entry, ok bool) {
	switch t.Data {
	case "a":
		if a.in = t.Type == html.StartTagToken; a.in {
			href := attribute(t, "href")
			if href != a.href { // an icon before the name has the same
				e, ok = a.flush()
			}
			a.href = href
			a.name.Reset()
			a.tail.Reset()
		}
	case "tr", "li", "hr", "table", "pre", "ul", "address":
		return a.flush()
	default:
		a.tail.add(" ")
	}
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

// flush ends the line under way.
func (a *autoindex) flush() (e fetch.Entry, ok bool) {
	href := a.href
	a.href, a.in = "", false
	if href == "" {
		return e, false
	}
	u, _, err := location(a.base, href)
	if err != nil || !below(a.base, u) {
		return e, false
	}
	name := lastSegment(u)
	e = fetch.Entry{URL: u, Name: decoded(strings.TrimSuffix(name, "/")), Kind: fetch.Document, Size: -1}
	if strings.HasSuffix(name, "/") {
		e.Kind = fetch.Menu
	}
	tail := strings.Join(strings.Fields(a.tail.String()), " ")
	e.Raw = strings.TrimSpace(strings.Join(strings.Fields(a.name.String()), " ") + " " + tail)
	readTail(&e, tail)
	return e, true
}

// below reports whether u lies directly in the directory of base: parents,
// sorted views and the rest of the page do not.
func below(base, u uri.URI) bool {
	_, query := u.Query()
	_, fragment := u.Fragment()
	here, _ := base.WithoutUserinfo().Authority()
	there, _ := u.Authority()
	dir := base.Path()[:strings.LastIndexByte(base.Path(), '/')+1]
	name, ok := strings.CutPrefix(u.Path(), dir)
	name = strings.TrimSuffix(name, "/")
	if plain, err := uri.Unescape(name); err != nil || plain == "." || plain == ".." {
		return false
	}
	return ok && !query && !fragment && u.Scheme() == base.Scheme() && here == there && dir != "" && name != "" && !strings.Contains(name, "/")
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

// tailForm is a date of nginx, Apache or lighttpd and the size behind it.
var tailForm = regexp.MustCompile(`(\d{4}-\d\d-\d\d|\d\d-[A-Z][a-z]{2}-\d{4}|\d{4}-[A-Z][a-z]{2}-\d\d) (\d\d:\d\d(?::\d\d)?)(?: +(\d+(?:\.\d+)?) ?([KMGT]?)B?(?: |$))?`)

// readTail reads date and size. Servers name no time zone: nginx means UTC,
// and so is every other taken. A size that was rounded is no Size.
func readTail(e *fetch.Entry, tail string) {
	m := tailForm.FindStringSubmatch(tail)
	if m == nil {
		return
	}
	for _, layout := range []string{"2006-01-02", "02-Jan-2006", "2006-Jan-02"} {
		for _, clock := range []string{" 15:04", " 15:04:05"} {
			if t, err := time.Parse(layout+clock, m[1]+" "+m[2]); err == nil {
				e.Time = t
			}
		}
	}
	size, unit := m[3], m[4]
	n, err := strconv.ParseInt(size, 10, 64)
	switch {
	case size == "" || e.Kind == fetch.Menu:
	case err == nil && unit == "":
		e.Size = n
	default:
		e.Extra = map[string]string{"size": size + unit}
	}
}
