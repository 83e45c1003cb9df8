package links

import (
	"strings"

	"golang.org/x/net/html"
)

// A feed parses an XML document of a simple format, such as a sitemap
// (sitemaps.org), RSS, Atom or OPML.
type feed struct {
	w      *walk
	name   string // name of the current element, with its prefix
	around string // local name of the enclosing element
	attr   map[string]string
	text   strings.Builder
}

// visitFeed parses a feed. It calls visit at the end of each element that has
// no child elements.
func (w *walk) visitFeed(in *pushback, visit func(*feed)) error {
	f := &feed{w: w}
	t := w.newTokens(in, true)
	for !w.stopped {
		kind, raw := t.next()
		switch kind {
		case html.ErrorToken:
			if done, err := w.resume(t, raw); done || err != nil {
				return err
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			f.open(t.Token())
			t.NextIsNotRawText()
			if kind == html.SelfClosingTagToken {
				visit(f)
				f.name = ""
			}
		case html.CommentToken:
			w.visitInstruction(raw)
		case html.TextToken:
			if f.name != "" && f.text.Len() < maxReference {
				f.text.Write(t.Text())
			}
		case html.EndTagToken:
			if name, _ := t.TagName(); f.name != "" && string(name) == f.name {
				visit(f)
			}
			f.name = ""
		}
	}
	return nil
}

func (f *feed) open(t html.Token) {
	if f.name != "" { // the current element has child elements
		f.around = localName(f.name)
	}
	f.name, f.attr = t.Data, nil
	f.text.Reset()
	for _, a := range t.Attr {
		if f.attr == nil {
			f.attr = map[string]string{}
		}
		f.attr[a.Key] = a.Val
	}
}

func (f *feed) visit(ref string, kind Kind) {
	f.w.visitReference(ref, kind, f.name)
}

// sitemap finds the links in one element of a sitemap or a sitemap index.
func (f *feed) sitemap() {
	text := strings.TrimSpace(f.text.String())
	switch f.name {
	case "image:loc", "video:content_loc", "video:thumbnail_loc", "video:player_loc":
		f.visit(text, Requisite)
	case "xhtml:link", "link":
		f.visit(f.attr["href"], Page)
	default:
		if localName(f.name) != "loc" {
			return
		}
		kind := Page
		if f.around == "sitemap" {
			kind = Sitemap
		}
		f.visit(text, kind)
	}
}

// item finds the links in one element of an RSS, Atom or OPML document.
func (f *feed) item() {
	text := strings.TrimSpace(f.text.String())
	switch localName(f.name) {
	case "link":
		f.visitLink(text)
	case "comments":
		f.visit(text, Page)
	case "commentrss":
		f.visit(text, Feed)
	case "guid":
		if f.attr["ispermalink"] != "false" && schemeOf(text) != "" {
			f.visit(text, Page)
		}
	case "enclosure":
		f.visit(f.attr["url"], Page)
	case "content":
		f.visit(f.attr["src"], Page)
		f.visit(f.attr["url"], Page)
	case "thumbnail":
		f.visit(f.attr["url"], Requisite)
	case "url":
		if f.around == "image" {
			f.visit(text, Requisite)
		}
	case "logo", "icon":
		f.visit(text, Requisite)
	case "outline":
		f.visit(f.attr["xmlurl"], Feed)
		f.visit(f.attr["htmlurl"], Page)
		f.visit(f.attr["url"], Page)
	}
}

// visitLink finds the link in a link element. In RSS the URL is the text of the
// element. In Atom the URL is in the href attribute.
func (f *feed) visitLink(text string) {
	if f.attr["href"] == "" {
		f.visit(text, Page)
		return
	}
	rel := f.attr["rel"]
	kind, ok := relationKind(rel, f.attr["type"])
	switch rel {
	case "self":
		return
	case "next", "previous", "first", "last", "prev-archive", "next-archive":
		kind = Feed
	}
	if ok && kind == Page {
		kind = typeKind(f.attr["type"])
	}
	if ok {
		f.visit(f.attr["href"], kind)
	}
}
