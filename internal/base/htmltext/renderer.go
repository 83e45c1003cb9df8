package htmltext

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// A renderer converts the tokens of a page to text.
type renderer struct {
	o         Options
	z         *html.Tokenizer
	lines     lineWriter
	title     collapsed
	truncated bool

	inTitle bool
	skip    string  // element whose content is not rendered, or ""
	blocks  []block // open elements that change the indent
	pre     int     // number of open pre elements
	preText bool    // the pre element has text; a line end directly after the tag is ignored

	cells     int  // number of cells in the current table row
	cellStart bool // the current table cell has no text

	ref      string // reference of the open link, or ""
	linkText collapsed
}

// A block is an open element that changes the indent.
type block struct {
	name   string
	indent int // indent outside of the element, in columns
	number int // number of the next item of an ordered list
}

// text renders the text between two tags.
func (p *renderer) text(text string) {
	switch {
	case p.inTitle:
		p.title.add(text)
		return
	case p.skip != "":
		return
	}
	if p.ref != "" {
		p.linkText.add(text)
	}
	if p.pre > 0 {
		if !p.preText {
			text = strings.TrimPrefix(text, "\n")
			p.preText = true
		}
		p.lines.preformatted(text)
		return
	}
	if p.cellStart && isBlank(text) {
		return
	}
	p.cellStart = false
	p.lines.add(text)
}

// breakLine ends the current line. At the start of a table cell it does nothing,
// so that the cells of a row stay on one line.
func (p *renderer) breakLine(n int) {
	if !p.cellStart {
		p.lines.breakLine(n)
	}
}

func (p *renderer) start(t *html.Token) {
	name := t.Data
	if p.skip != "" {
		return
	}
	switch name {
	case "title":
		p.inTitle = p.title.Len() == 0
		if !p.inTitle {
			p.skip = name
		}
	case "script", "style", "template", "svg", "math", "select", "datalist", "textarea", "object", "applet":
		if t.Type != html.SelfClosingTagToken {
			p.skip = name
		}
	case "noscript", "noframes", "noembed":
		p.z.NextIsNotRawText()
	case "a":
		p.endLink()
		p.ref = attribute(t, "href")
	case "area":
		p.breakLine(1)
		p.link(attribute(t, "href"), attribute(t, "alt"))
	case "frame", "iframe":
		p.breakLine(1)
		p.link(attribute(t, "src"), strings.TrimSpace("frame "+attribute(t, "name")))
		p.breakLine(1)
		p.skip = strings.TrimPrefix(name, "frame") // skip the fallback content of an iframe
	case "img":
		p.text(attribute(t, "alt"))
	case "br":
		p.lines.flush()
		if p.pre > 0 {
			p.lines.preformatted("\n")
		} else {
			p.breakLine(1)
		}
	case "hr":
		p.breakLine(1)
		p.lines.rule("-", p.o.Width)
	case "td", "th":
		p.startCell()
	default:
		p.startBlock(t)
	}
}

// startBlock renders the start of an element that begins a new line.
func (p *renderer) startBlock(t *html.Token) {
	switch name := t.Data; name {
	case "h1", "h2", "h3", "h4", "h5", "h6":
		p.closeBlock("p")
		p.breakLine(2)
		p.lines.longest = 0
	case "p", "form", "fieldset", "figure", "center", "address":
		p.breakLine(2)
	case "ul", "ol", "menu", "dir":
		p.breakLine(gapOf(len(p.blocks) == 0))
		columns := 2
		if name == "ol" {
			columns = 4
		}
		p.open(name, columns)
	case "li":
		p.startItem()
	case "dl":
		p.breakLine(2)
		p.open(name, 0)
	case "dt":
		p.closeItem("dd", "dl")
		p.breakLine(1)
	case "dd":
		p.closeItem("dd", "dl")
		p.breakLine(1)
		p.open(name, 4)
	case "blockquote":
		p.breakLine(2)
		p.open(name, 4)
	case "pre", "listing", "xmp", "plaintext":
		p.breakLine(2)
		p.pre, p.preText = min(p.pre+1, maxDepth), false
	case "table":
		p.breakLine(2)
		p.cellStart, p.cells = false, 0
	case "tr", "caption":
		p.cellStart = false
		p.lines.breakLine(1)
		p.cells = 0
	default:
		if isBlock(name) {
			p.breakLine(1)
		}
	}
}

// isBlock reports whether an element begins and ends with a line break.
func isBlock(name string) bool {
	switch name {
	case "div", "section", "article", "header", "footer", "main", "nav", "aside", "body", "details", "summary",
		"figcaption", "legend", "hgroup", "isindex", "thead", "tbody", "tfoot", "option", "search", "dialog":
		return true
	}
	return false
}

func gapOf(outer bool) int {
	if outer {
		return 2
	}
	return 1
}

func (p *renderer) end(name string) {
	if p.skip != "" {
		if p.skip == name {
			p.skip = ""
		}
		return
	}
	switch name {
	case "title":
		p.inTitle = false
	case "a":
		p.endLink()
	case "h1", "h2":
		p.breakLine(1)
		if p.lines.longest > 0 && !p.cellStart {
			p.lines.rule(map[string]string{"h1": "=", "h2": "-"}[name], p.lines.longest)
		}
		p.breakLine(2)
	case "h3", "h4", "h5", "h6", "p", "table", "form", "fieldset", "figure", "center", "address":
		p.breakLine(2)
	case "ul", "ol", "menu", "dir", "dl", "blockquote":
		outer := p.closeBlock(name)
		p.breakLine(gapOf(outer))
	case "pre", "listing", "xmp":
		p.pre = max(p.pre-1, 0)
		p.breakLine(2)
	case "td", "th":
		p.lines.flush()
	case "tr":
		p.cellStart = false
		p.lines.breakLine(1)
	default:
		if isBlock(name) || name == "li" || name == "dd" || name == "dt" {
			p.breakLine(1)
		}
	}
}

// open adds an element to the open blocks, and indents its content.
func (p *renderer) open(name string, columns int) {
	if len(p.blocks) < maxDepth {
		p.blocks = append(p.blocks, block{name: name, indent: p.lines.indent, number: 1})
		p.lines.indent += columns
	}
}

// closeBlock closes the innermost open element with the given name, and the
// elements inside it. It reports whether no other block is open.
func (p *renderer) closeBlock(name string) (outer bool) {
	for i := len(p.blocks) - 1; i >= 0; i-- {
		if p.blocks[i].name == name {
			p.lines.flush()
			p.lines.indent, p.blocks = p.blocks[i].indent, p.blocks[:i]
			break
		}
	}
	return len(p.blocks) == 0
}

// closeItem closes an open item of the innermost list.
func (p *renderer) closeItem(item, list string) {
	for i := len(p.blocks) - 1; i >= 0 && p.blocks[i].name != list; i-- {
		if p.blocks[i].name == item {
			p.closeBlock(item)
			return
		}
	}
}

// startItem starts an item of the innermost list.
func (p *renderer) startItem() {
	p.breakLine(1)
	p.lines.marker = "* "
	for i := len(p.blocks) - 1; i >= 0; i-- {
		switch b := &p.blocks[i]; b.name {
		case "ol":
			p.lines.marker = strconv.Itoa(b.number) + ". "
			b.number++
			return
		case "ul", "menu", "dir":
			return
		}
	}
}

// startCell starts a table cell. Cells in a row are separated by " | ".
func (p *renderer) startCell() {
	p.lines.flush()
	if p.cells > 0 {
		p.lines.gap, p.lines.sep = 0, true
	}
	p.cells++
	p.cellStart = true
}

// endLink ends the open link, if any, and writes its number.
func (p *renderer) endLink() {
	if p.ref == "" {
		return
	}
	ref, text := p.ref, p.linkText.String()
	p.ref = ""
	p.linkText.Reset()
	n := p.number(ref, text)
	switch {
	case n == 0:
	case text == "": // an image without a description
		p.lines.add("[" + strconv.Itoa(n) + "]")
	default:
		p.lines.mark("[" + strconv.Itoa(n) + "]")
	}
}

// link renders a link without content, such as a frame.
func (p *renderer) link(ref, text string) {
	if n := p.number(ref, text); n > 0 {
		p.lines.add(text + "[" + strconv.Itoa(n) + "]")
		p.cellStart = false
	}
}

func (p *renderer) number(ref, text string) int {
	if ref == "" || p.o.Link == nil {
		return 0
	}
	return p.o.Link(ref, text)
}

// attribute returns the value of an attribute without surrounding white space, or
// "".
func attribute(t *html.Token, key string) string {
	for _, a := range t.Attr {
		if a.Key == key {
			return strings.TrimSpace(a.Val)
		}
	}
	return ""
}
