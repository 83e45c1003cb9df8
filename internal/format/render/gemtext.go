package render

import (
	"context"
	"html/template"
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// gemtextMedia is the media type of gemtext documents. Scheme.Menu parses them
// as listings, in which each line without a link is an entry of kind Info.
const gemtextMedia = "text/gemini"

// A gemtext writes a gemtext document as HTML.
type gemtext struct {
	w            io.Writer
	err          error
	open         string // element that is open: "ul", "blockquote", "pre", or ""
	preformatted bool
}

// gemtext writes a gemtext document. Its first heading of level 1 becomes the
// title.
func (v *View) gemtext(ctx context.Context, w io.Writer) error {
	l := newListing(ctx, w, v)
	defer l.stop()
	l.peek(maxPeeked, maxSortedSize)
	title := -1
	for n, i := range l.peeked {
		if strings.HasPrefix(i.name, "```") {
			break
		}
		if text, ok := strings.CutPrefix(i.name, "# "); ok && i.kind == fetch.Info {
			l.Page.Title, title = strings.TrimSpace(text), n
			break
		}
	}
	g := &gemtext{w: w, err: execute(w, "gemtext", l.Page)}
	for n := 0; g.err == nil; n++ {
		i, ok := l.take()
		if !ok {
			break
		}
		if n != title {
			g.line(i)
		}
	}
	g.element("")
	if g.err != nil {
		return g.err
	}
	return execute(w, "endgemtext", listingEnd{Problem: l.problem, About: v.about(l.problem == "")})
}

// line writes a line of the document as HTML. The name of i is the text of the
// line, or the label of its link.
func (g *gemtext) line(i item) {
	text := i.name
	alternative, fence := strings.CutPrefix(text, "```")
	switch {
	case i.kind != fetch.Info:
		g.element("")
		g.execute("gemlink", i)
	case fence:
		g.preformatted = !g.preformatted
		g.element("")
		if g.preformatted {
			g.open = "pre"
			g.execute("gempre", strings.TrimSpace(alternative))
		}
	case g.preformatted:
		g.text("", text+"\n", "")
	case strings.HasPrefix(text, "###"):
		g.block("h4", text[3:])
	case strings.HasPrefix(text, "##"):
		g.block("h3", text[2:])
	case strings.HasPrefix(text, "#"):
		g.block("h2", text[1:])
	case strings.HasPrefix(text, "* "):
		g.element("ul")
		g.text("<li>", strings.TrimSpace(text[2:]), "</li>\n")
	case strings.HasPrefix(text, ">"):
		g.element("blockquote")
		g.text("<p>", strings.TrimSpace(text[1:]), "</p>\n")
	case strings.TrimSpace(text) != "":
		g.block("p", text)
	}
}

// block writes an HTML element that contains only text.
func (g *gemtext) block(name, text string) {
	g.element("")
	g.text("<"+name+">", strings.TrimSpace(text), "</"+name+">\n")
}

// element opens an HTML element, unless an element with this name is already
// open. It first closes the open element. The name "" opens no element.
func (g *gemtext) element(name string) {
	if g.open == name {
		return
	}
	before := ""
	if g.open != "" {
		before = "</" + g.open + ">\n"
	}
	if g.open = name; name != "" {
		before += "<" + name + ">\n"
	}
	g.text(before, "", "")
}

// text writes text with HTML escapes, between the markup before and after it.
func (g *gemtext) text(before, text, after string) {
	if g.err == nil {
		g.err = write(g.w, before+template.HTMLEscapeString(text)+after)
	}
}

func (g *gemtext) execute(name string, data any) {
	if g.err == nil {
		g.err = execute(g.w, name, data)
	}
}
