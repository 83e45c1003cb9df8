package links

import (
	"bytes"
	"io"

	"golang.org/x/net/html"
)

// tokens is an HTML tokenizer that limits the size of a token. Unlike
// html.Tokenizer, it continues after a token that exceeds the limit.
type tokens struct {
	*html.Tokenizer
	in      *pushback
	max     int // maximum size of a token in bytes
	xml     bool
	foreign bool           // inside an svg element, to which XML rules apply
	text    string         // name of the element whose raw text comes next, or ""
	last    html.TokenType // type of the last token
	head    [9]byte
	tail    [2]byte
	pending []byte // end of a truncated text, which may be the start of a tag

	inSubset bool // inside the internal subset of a document type declaration
}

func (w *walk) newTokens(in *pushback, xml bool) *tokens {
	t := &tokens{in: in, xml: xml, max: maxToken}
	if w.tokenLimit > 0 {
		t.max = w.tokenLimit
	}
	t.restart("")
	return t
}

// restart creates a new tokenizer for the remaining input. If the input
// continues inside an element such as script, the parameter element names it.
// restart then inserts the start tag of the element, so that the tokenizer
// recognizes its end tag.
func (t *tokens) restart(element string) {
	if element != "" {
		t.in.unread([]byte("<" + element + ">"))
	}
	t.Tokenizer = html.NewTokenizer(t.in)
	if element != "" {
		t.Next()
	}
	t.SetMaxBuf(t.max)
}

// next returns the type and the bytes of the next token.
func (t *tokens) next() (html.TokenType, []byte) {
	t.AllowCDATA(t.xml || t.foreign)
	kind := t.Next()
	raw := t.Raw()
	if kind == html.ErrorToken {
		return kind, raw
	}
	t.last = kind
	if len(raw) < t.max {
		return kind, raw
	}
	copy(t.head[:], raw)
	copy(t.tail[:], raw[len(raw)-len(t.tail):])
	if kind == html.TextToken && !t.cdata() {
		const longest = len("</textarea")
		end := raw[len(raw)-longest:]
		if i := bytes.LastIndexByte(end, '<'); i >= 0 {
			t.pending = bytes.Clone(end[i:])
			raw = raw[:len(raw)-len(t.pending)]
		}
	}
	return kind, raw
}

func (t *tokens) cdata() bool { return string(t.head[:]) == "<![CDATA[" }

// startElement updates the state of the tokenizer after a start tag. It parses
// the contents of noscript, noembed and noframes elements as markup. In XML,
// and in SVG inside HTML, elements such as title have no raw text (HTML section
// 13.2.6.5).
func (t *tokens) startElement(element string, closed bool) {
	t.text = ""
	switch element {
	case "svg":
		t.foreign = !closed
	case "body", "div", "p", "span", "table", "ul", "ol", "li", "img", "br", "h1", "h2", "h3", "pre":
		t.foreign = false
	case "noscript", "noembed", "noframes":
		t.NextIsNotRawText()
	case "script", "style", "textarea", "title", "xmp", "plaintext", "iframe":
		if t.xml || t.foreign {
			t.NextIsNotRawText()
		} else {
			t.text = element
		}
	}
}

// endElement updates the state of the tokenizer after an end tag.
func (t *tokens) endElement() {
	t.text = ""
	switch name, _ := t.TagName(); string(name) {
	case "svg":
		t.foreign = false
	case "foreignobject":
		t.foreign = true // its content can be HTML
	}
}

func discardEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// A pushback is a reader with a method unread, which puts bytes back. The next
// Read returns these bytes first.
type pushback struct {
	buf []byte
	r   io.Reader
}

func (p *pushback) unread(b []byte) { p.buf = append(bytes.Clone(b), p.buf...) }

func (p *pushback) Read(b []byte) (int, error) {
	if len(p.buf) > 0 {
		n := copy(b, p.buf)
		p.buf = p.buf[n:]
		return n, nil
	}
	return p.r.Read(b)
}
