package links

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxToken bounds a tag, and a piece of text: what is longer is read in
// pieces.
const maxToken = 256 << 10

// markup goes through HTML, or through XML with links like those of HTML.
func (w *walk) markup(in *pushback, xml bool) error {
	t := w.tokens(in, xml)
	style := false // within an element of that name
	for !w.stopped {
		kind, raw := t.next()
		switch kind {
		case html.ErrorToken:
			if err := w.write(raw); err != nil {
				return err
			}
			if len(raw) >= t.max {
				w.cut(raw)
			}
			done, err := t.resume(raw, w)
			if done || err != nil {
				return err
			}
			continue
		case html.StartTagToken, html.SelfClosingTagToken:
			name, edited := w.tag(t.Tokenizer, raw)
			raw = edited
			t.opened(name, kind == html.SelfClosingTagToken)
			style = name == "style" && (kind == html.StartTagToken || !t.xml && !t.foreign)
		case html.EndTagToken:
			style = false
			t.closed()
		case html.TextToken:
			if style {
				s := sheet{w: w, in: w.small(bytes.NewReader(raw)), out: w.out, from: "style"}
				if err := s.run(); err != nil {
					return err
				}
				continue
			}
		case html.CommentToken:
			raw = w.instruction(raw)
		}
		if err := w.write(raw); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) write(raw []byte) error {
	if w.out == nil || len(raw) == 0 {
		return nil
	}
	_, err := w.out.Write(raw)
	return err
}

// tag visits the references of a start tag. It returns the name of the element
// and the tag with what is to stand there.
func (w *walk) tag(z *html.Tokenizer, raw []byte) (string, []byte) {
	if w.out != nil {
		raw = bytes.Clone(raw)
	}
	b, more := z.TagName()
	e := &w.element
	e.name, e.attr = atom.String(b), e.attr[:0]
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if name := atom.String(key); wanted(e.name, name) {
			e.attr = append(e.attr, attribute{name, string(value)})
		}
	}
	if len(e.attr) == 0 {
		return e.name, raw
	}
	changes := w.references(e)
	if w.out == nil || len(changes) == 0 {
		return e.name, raw
	}
	return e.name, edit(raw, changes)
}

// cut visits the references of a tag that goes on further than a tokenizer
// reads, as far as it is there.
func (w *walk) cut(raw []byte) {
	if w.out != nil {
		return
	}
	whole := bytes.Clone(raw)
	if quote := scan(raw, nil); quote != 0 {
		whole = append(whole, quote)
	}
	z := html.NewTokenizer(bytes.NewReader(append(whole, '>')))
	if z.Next() == html.StartTagToken {
		w.tag(z, nil)
	}
}

// An element is a start tag with the attributes that matter.
type element struct {
	name string
	attr []attribute
}

type attribute struct{ key, value string }

// get is the value of an attribute.
func (e *element) get(key string) string {
	for _, a := range e.attr {
		if a.key == key {
			return a.value
		}
	}
	return ""
}

// references visits what a start tag refers to and returns the attributes that
// change.
func (w *walk) references(e *element) (changes []attribute) {
	if e.name == "meta" && strings.EqualFold(e.get("name"), "robots") && refuses(e.get("content")) {
		w.nofollow = true
	}
	outside := w.nofollow
	defer func() { w.nofollow = outside }()
	w.nofollow = outside || hasWord(e.get("rel"), "nofollow")
	for _, a := range e.attr {
		if e.name == "base" && a.key == "href" {
			changes = append(changes, attribute{a.key, ""})
			continue
		}
		kind, syntax := place(e, a.key)
		from := e.name + " " + a.key
		to := ""
		switch syntax {
		case plain:
			to = w.reference(a.value, kind, from)
		case candidates:
			to = w.candidates(a.value, kind, from)
		case archives:
			to = w.list(a.value, kind, from)
		case refresh:
			to = w.refresh(a.value, from)
		case styles:
			to = w.inline(a.value, from)
		}
		if to != "" {
			changes = append(changes, attribute{a.key, to})
		}
	}
	if len(changes) > 0 && (e.name == "link" || e.name == "script") {
		// What is read instead has other bytes, from another origin.
		changes = append(changes, attribute{"integrity", aside}, attribute{"crossorigin", aside})
	}
	return changes
}

// hasWord reports whether a list of words holds one, whatever its case.
func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

// refuses reports whether directives for robots say that no link is to be
// followed.
func refuses(directives string) bool {
	for d := range strings.SplitSeq(directives, ",") {
		if d = strings.TrimSpace(d); strings.EqualFold(d, "nofollow") || strings.EqualFold(d, "none") {
			return true
		}
	}
	return false
}

// instruction visits the style sheet of an XML document, whose processing
// instructions are comments to HTML.
func (w *walk) instruction(raw []byte) []byte {
	const begin = "<?xml-stylesheet"
	if !bytes.HasPrefix(raw, []byte(begin)) {
		return raw
	}
	tag := append([]byte("<x "), raw[len(begin):]...)
	z := html.NewTokenizer(bytes.NewReader(tag))
	if z.Next() == html.ErrorToken {
		return raw
	}
	_, more := z.TagName()
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if string(key) != "href" {
			continue
		}
		if to := w.reference(string(value), Requisite, "xml-stylesheet"); to != "" {
			edited := edit(tag, []attribute{{"href", to}})
			return append([]byte(begin), edited[len("<x "):]...)
		}
	}
	return raw
}
