package links

import (
	"bytes"
	"io"

	"golang.org/x/net/html"
)

// tokens is a tokenizer that goes on behind a token that is too long for it.
type tokens struct {
	*html.Tokenizer
	in      *pushback
	max     int // bytes of a token
	xml     bool
	foreign bool           // within an svg element, which is XML to HTML
	text    string         // the element whose text comes next, if there can be no tags in it
	last    html.TokenType // and the beginning and end of it
	head    [9]byte
	tail    [2]byte
	hold    []byte // the end of a text that was cut: it may be the beginning of a tag
}

func (w *walk) tokens(in *pushback, xml bool) *tokens {
	t := &tokens{in: in, xml: xml, max: maxToken}
	if w.limit > 0 {
		t.max = w.limit
	}
	t.start("")
	return t
}

// start begins a tokenizer, within the text of an element if there is one: by
// its start tag, for a tokenizer of a fragment finds no end tag.
func (t *tokens) start(element string) {
	if element != "" {
		t.in.unread([]byte("<" + element + ">"))
	}
	t.Tokenizer = html.NewTokenizer(t.in)
	if element != "" {
		t.Next()
	}
	t.SetMaxBuf(t.max)
	t.AllowCDATA(t.xml)
}

// next returns the next token and its bytes.
func (t *tokens) next() (html.TokenType, []byte) {
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
			t.hold = bytes.Clone(end[i:])
			raw = raw[:len(raw)-len(t.hold)]
		}
	}
	return kind, raw
}

func (t *tokens) cdata() bool { return string(t.head[:]) == "<![CDATA[" }

// opened takes note of a start tag. What a browser with scripts and frames
// does not read is read here; XML, and SVG within HTML (13.2.6.5), knows no raw
// text, so that a title that closes itself does not swallow the rest.
func (t *tokens) opened(element string, closed bool) {
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

// closed takes note of an end tag.
func (t *tokens) closed() {
	if t.foreign {
		name, _ := t.TagName()
		t.foreign = string(name) != "svg"
	}
}

// resume goes on after an error token, whose bytes were raw. What is skipped
// is written to w. Done says that there is nothing more.
func (t *tokens) resume(raw []byte, w *walk) (done bool, err error) {
	if err := t.Err(); err != html.ErrBufferExceeded {
		if err == io.EOF {
			err = nil
		}
		return true, err
	}
	t.in.unread(t.Buffered())
	inside := ""
	switch {
	case len(raw) > 0 && scan(raw, nil) != 0: // a tag, in a value
		err = t.in.skip(w, "", string(scan(raw, nil)))
	case len(raw) > 0:
		err = t.in.skip(w, "", ">")
	case t.last == html.TextToken && t.cdata():
		err = t.in.skip(w, string(t.tail[:]), "]]>")
	case t.last == html.TextToken:
		t.in.unread(t.hold)
		inside = t.text
	case t.last == html.CommentToken && string(t.head[:4]) == "<!--":
		err = t.in.skip(w, string(t.tail[:]), "-->")
	default:
		err = t.in.skip(w, "", ">")
	}
	t.hold, t.head = nil, [9]byte{}
	t.start(inside)
	return err == io.EOF, noEOF(err)
}

func noEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// A pushback reads what was read before once more.
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

// skip writes to w what comes up to the end of mark, of which the bytes before
// may be the beginning.
func (p *pushback) skip(w *walk, before, mark string) error {
	b := make([]byte, 32<<10)
	seen := []byte(before)
	for {
		n, err := p.Read(b)
		all := append(seen, b[:n]...)
		if i := bytes.Index(all, []byte(mark)); i >= 0 {
			end := i + len(mark) - len(seen)
			p.unread(b[end:n])
			return w.write(b[:end])
		}
		if err := w.write(b[:n]); err != nil {
			return err
		}
		if err != nil {
			return err
		}
		seen = bytes.Clone(all[max(0, len(all)-len(mark)+1):])
	}
}
