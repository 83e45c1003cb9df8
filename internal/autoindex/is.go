package autoindex

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// evidence is what tells a listing from an ordinary page.
type evidence struct {
	title, heading text
	part           *text  // the one of them that is under way; nil: none
	mute           string // the element under way whose text is not shown
	box            int    // depth of the elements in which listings have text

	children int // links to what lies in the directory
	named    int // of them: whose text is the name
	dated    int // of them: with a date
	up       int // links to the directory, a sorted view of it, or one above
	others   int // links elsewhere

	texts, chars int // before the first child, in a box
	loose        int // bytes outside of any box
}

// Limits of what stands around the entries of a listing.
const (
	maxOthers = 2 // such as the home page of the server software
	maxTexts  = 20
	maxChars  = 400
	maxLoose  = 200 // behind the first entry; before it, none
	enough    = 5   // entries
)

// Is reports whether page is a listing that a server made of the directory at
// dir. It is one if its title or first heading says so, as in "Index of /x/", or
// by its structure: links to what lies in the directory, each with its name as
// text, next to nothing else, and each with a date or below the path
// of the directory as heading. Page may be the beginning of a longer one: then
// complete is false, and more reports whether a longer beginning may change a
// negative result.
func Is(dir uri.URI, page []byte, complete bool) (listing, more bool) {
	if i := bytes.LastIndexByte(page, '<'); !complete && i > bytes.LastIndexByte(page, '>') {
		page = page[:i] // half a tag would be text
	}
	r := New(dir)
	z := html.NewTokenizer(bytes.NewReader(page))
	for z.Next() != html.ErrorToken {
		r.Token(z.Token())
		switch {
		case r.page.says():
			return true, false
		case r.page.contradicts():
			return false, false
		}
	}
	if complete {
		r.Token(html.Token{Type: html.ErrorToken})
	}
	listing = r.page.agrees(dir, complete)
	if complete || listing && r.page.children >= enough {
		return listing, false
	}
	return listing, true
}

// says reports whether the title or the heading says that this is a listing.
func (p *evidence) says() bool {
	if p.part != nil {
		return false
	}
	for _, t := range []*text{&p.title, &p.heading} {
		s := strings.ToLower(t.words())
		for _, phrase := range []string{"index of ", "directory listing for "} {
			if rest, ok := strings.CutPrefix(s, phrase); ok && (rest[0] == '/' || strings.HasPrefix(rest, "./") || strings.Contains(rest, "://")) {
				return true
			}
		}
	}
	return false
}

// contradicts reports whether what was seen stands in no listing.
func (p *evidence) contradicts() bool {
	return p.others > maxOthers || p.children > p.named || p.loose > maxLoose || p.loose > 0 && p.children == 0 ||
		p.children == 0 && (p.texts > maxTexts || p.chars > maxChars)
}

// agrees reports whether what was seen is a listing of dir.
func (p *evidence) agrees(dir uri.URI, complete bool) bool {
	switch {
	case p.contradicts():
		return false
	case p.children == 0: // an empty one
		return complete && p.up > 0 && p.others <= 1 && p.names(dir)
	}
	return p.dated == p.children || p.names(dir)
}

// names reports whether the title or the heading ends with the path of dir.
func (p *evidence) names(dir uri.URI) bool {
	path, err := uri.Unescape(folder(dir))
	if err != nil || path == "" {
		return false
	}
	return strings.HasSuffix(p.title.words(), path) || strings.HasSuffix(p.heading.words(), path)
}

// text counts s, and reports whether it is no part of a row.
func (p *evidence) text(s string, link bool) bool {
	switch {
	case p.mute != "":
		return true
	case p.part != nil:
		p.part.add(s)
		return true
	}
	n := len(strings.TrimSpace(s))
	switch {
	case n == 0 || link:
	case p.box == 0:
		p.loose += n
	default:
		p.texts++
		p.chars += n
	}
	return false
}

// tag follows the elements. The end tags of those it counts are required by
// HTML.
func (p *evidence) tag(name string, start, end bool) {
	if p.mute != "" {
		if end && name == p.mute {
			p.mute = ""
		}
		return
	}
	switch name {
	case "style", "script", "svg", "noscript", "select":
		if start {
			p.mute = name
		}
	case "title":
		p.under(&p.title, start)
	case "h1", "h2", "h3", "h4":
		p.under(&p.heading, start)
	case "pre", "table", "ul", "header", "footer", "address", "small", "span", "button", "label":
		switch {
		case start:
			p.box++
		case end && p.box > 0:
			p.box--
		}
	}
}

// under begins or ends a title or a heading, of which the first counts.
func (p *evidence) under(t *text, start bool) {
	switch {
	case !start:
		p.part = nil
	case *t == "":
		p.part = t
	}
}

// child counts an entry that is shown as that text. Servers cut long names.
func (p *evidence) child(e *fetch.Entry, shown string, dated bool) {
	p.children++
	if dated {
		p.dated++
	}
	name := strings.Join(strings.Fields(strings.ToValidUTF8(e.Name, "\uFFFD")), " ")
	shown = strings.TrimSuffix(shown, "/")
	cut := strings.TrimSuffix(shown, ">")
	if shown == name || strings.HasSuffix(cut, "..") && strings.HasPrefix(name, strings.TrimRight(cut, ".")) {
		p.named++
	}
}

// other counts a link to u that is no entry, or one that err says is no URL.
func (p *evidence) other(dir, u uri.URI, err error) {
	_, fragment := u.Fragment()
	if err == nil && !fragment && sameSite(dir, u) && strings.HasSuffix(u.Path(), "/") && strings.HasPrefix(folder(dir), u.Path()) {
		p.up++
		return
	}
	p.others++
}
