package autoindex

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// evidence counts the features of a page that distinguish a directory listing
// from other pages, such as links to files with a date.
type evidence struct {
	title, heading text
	part           *text  // title or heading that is being read, or nil
	hiddenIn       string // name of the current element with invisible text, or ""
	depth          int    // nesting depth of elements that contain text in listings

	children int // number of links to direct children of the directory
	named    int // number of children with their name as the link text
	dated    int // number of children with a date
	parents  int // number of links to the directory, a sorted view or a parent directory
	others   int // number of other links

	texts, chars int // number of texts in containers, and their bytes; limited only if there is no child
	loose        int // number of bytes of text outside containers

	inPre  bool // a pre element started
	styled bool // the page has elements besides pre, links and those that every page has
}

// Limits for the content that a listing may contain besides its entries.
const (
	maxOthers  = 2 // other links, such as the home page of the server software
	maxTexts   = 20
	maxChars   = 400
	maxLoose   = 200 // bytes of text outside containers after the first entry; before it, the limit is 0
	minEntries = 5   // number of entries after which an incomplete page is accepted as a listing
)

// IsListing reports whether page is a directory listing of dir that a server
// generated. A page is a listing if its title or first heading has the form
// "Index of /x/". Any other page is a listing if its links name children of the
// directory, the link texts are the names, and each link has a date. The dates
// may be missing if the heading ends with the path of the directory. Such a
// page must contain almost no other links or text. The heading and the dates may
// be missing if the page consists of a pre element with the names. Go's package
// net/http writes such listings.
//
// If page is only the beginning of a document, complete must be false. The
// result more reports whether a longer prefix could change a negative result.
func IsListing(dir uri.URI, page []byte, complete bool) (listing, more bool) {
	if i := bytes.LastIndexByte(page, '<'); !complete && i > bytes.LastIndexByte(page, '>') {
		page = page[:i] // an incomplete tag would be parsed as text
	}
	r := New(dir)
	dir = r.base
	z := html.NewTokenizer(bytes.NewReader(page))
	for z.Next() != html.ErrorToken {
		r.Token(z.Token())
		switch {
		case r.page.hasListingTitle():
			return true, false
		case r.page.excludesListing():
			return false, false
		}
	}
	if complete {
		r.Token(html.Token{Type: html.ErrorToken})
	}
	listing = r.page.isListing(dir, complete)
	if complete || listing && r.page.children >= minEntries {
		return listing, false
	}
	return listing, true
}

// hasListingTitle reports whether the title or heading of the page starts like
// the title of a listing, such as "Index of /".
func (p *evidence) hasListingTitle() bool {
	if p.part != nil {
		return false
	}
	for _, t := range []*text{&p.title, &p.heading} {
		s := strings.ToLower(t.words())
		for _, phrase := range []string{"index of ", "directory listing for "} {
			rest, ok := strings.CutPrefix(s, phrase)
			if ok && (rest[0] == '/' || strings.HasPrefix(rest, "./") || strings.Contains(rest, "://")) {
				return true
			}
		}
	}
	return false
}

// excludesListing reports whether the page has content that no listing has,
// such as long texts or many links to other sites.
func (p *evidence) excludesListing() bool {
	return p.others > maxOthers || p.children > p.named || p.loose > maxLoose || p.loose > 0 && p.children == 0 ||
		p.children == 0 && (p.texts > maxTexts || p.chars > maxChars)
}

// isListing reports whether the page is a directory listing of dir, based on
// the counts in p.
func (p *evidence) isListing(dir uri.URI, complete bool) bool {
	switch {
	case p.excludesListing():
		return false
	case p.isBare():
		return complete || p.children > 0
	case p.children == 0: // empty directory
		return complete && p.parents > 0 && p.others <= 1 && p.namesPath(dir)
	}
	return p.dated == p.children || p.namesPath(dir)
}

// isBare reports whether the page is a pre element with links to children of
// the directory and without other text, or an empty pre element.
func (p *evidence) isBare() bool {
	return p.inPre && !p.styled && p.title == "" && p.heading == "" && p.texts == 0 && p.loose == 0 &&
		p.parents == 0 && p.others == 0
}

// namesPath reports whether the title or heading of the page ends with the path
// of dir.
func (p *evidence) namesPath(dir uri.URI) bool {
	path, err := uri.Unescape(dirPath(dir))
	if err != nil || path == "" {
		return false
	}
	return strings.HasSuffix(p.title.words(), path) || strings.HasSuffix(p.heading.words(), path)
}

// countText adds a text of the page to the counts. It reports whether the text
// is a title, a heading or invisible, so that it does not belong to a row.
func (p *evidence) countText(s string, link bool) bool {
	switch {
	case p.hiddenIn != "":
		return true
	case p.part != nil:
		p.part.add(s)
		return true
	}
	n := len(strings.TrimSpace(s))
	switch {
	case n == 0 || link:
	case p.depth == 0:
		p.loose += n
	default:
		p.texts++
		p.chars += n
	}
	return false
}

// trackTag records the start and end of the title, headings and containers of a
// page. HTML requires the end tags of these elements.
func (p *evidence) trackTag(name string, start, end bool) {
	if p.hiddenIn != "" {
		if end && name == p.hiddenIn {
			p.hiddenIn = ""
		}
		return
	}
	switch name {
	case "pre":
		p.inPre = true
	case "a", "html", "head", "meta", "body":
	default:
		p.styled = true
	}
	switch name {
	case "style", "script", "svg", "noscript", "select":
		if start {
			p.hiddenIn = name
		}
	case "title":
		p.setPart(&p.title, start)
	case "h1", "h2", "h3", "h4":
		p.setPart(&p.heading, start)
	case "pre", "table", "ul", "header", "footer", "address", "small", "span", "button", "label":
		switch {
		case start:
			p.depth++
		case end && p.depth > 0:
			p.depth--
		}
	}
}

// setPart records the start or end of a title or heading. Only the first title
// and the first heading of a page are used.
func (p *evidence) setPart(t *text, start bool) {
	switch {
	case !start:
		p.part = nil
	case *t == "":
		p.part = t
	}
}

// countChild adds an entry of the listing to the counts. The parameter shown is
// the text of its link, which may be a shortened name.
func (p *evidence) countChild(e *fetch.Entry, shown string, dated bool) {
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

// countOther adds a link that is not an entry to the counts. If err is not nil,
// the link is not a valid URL and u is ignored.
func (p *evidence) countOther(dir, u uri.URI, err error) {
	_, fragment := u.Fragment()
	if err == nil && !fragment && sameSite(dir, u) &&
		strings.HasSuffix(u.Path(), "/") && strings.HasPrefix(dirPath(dir), u.Path()) {
		p.parents++
		return
	}
	p.others++
}

// NamesDirectory reports whether page, the beginning of an HTML page, has the
// title of a listing of the directory at u with a final slash. Some servers send
// the listing without a redirect to this URL. The title or first heading must
// have the form "Index of /x" and end with the name of the directory.
func NamesDirectory(u uri.URI, page []byte) bool {
	name, err := uri.Unescape(u.Path()[strings.LastIndexByte(u.Path(), '/')+1:])
	if err != nil || name == "" {
		return false
	}
	r := New(u)
	z := html.NewTokenizer(bytes.NewReader(page))
	for z.Next() != html.ErrorToken {
		r.Token(z.Token())
		if r.page.hasListingTitle() {
			title := strings.TrimSuffix(r.page.title.words(), "/")
			heading := strings.TrimSuffix(r.page.heading.words(), "/")
			return strings.HasSuffix(title, "/"+name) || strings.HasSuffix(heading, "/"+name)
		}
	}
	return false
}
