package links

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxToken is the maximum size of a markup token in bytes. The tokenizer splits
// longer text and skips the end of longer tags.
const maxToken = 256 << 10

// visitMarkup finds the links in an HTML document. If xml is true, it parses an
// XML document such as SVG.
func (w *walk) visitMarkup(in *pushback, xml bool) error {
	t := w.newTokens(in, xml)
	style := false // inside a style element
	script := ""   // type of the current script element
	for !w.stopped {
		kind, raw := t.next()
		switch kind {
		case html.ErrorToken:
			if err := w.write(raw); err != nil {
				return err
			}
			if len(raw) >= t.max {
				w.visitTruncatedTag(raw)
			}
			done, err := t.resume(raw, w)
			if done || err != nil {
				return err
			}
			continue
		case html.StartTagToken, html.SelfClosingTagToken:
			name, edited := w.visitTag(t.Tokenizer, raw)
			raw = edited
			t.startElement(name, kind == html.SelfClosingTagToken)
			style = name == "style" && (kind == html.StartTagToken || !t.xml && !t.foreign)
			if script = ""; name == "script" && kind == html.StartTagToken {
				script = w.element.get("type")
			}
		case html.EndTagToken:
			style, script = false, ""
			t.endElement()
		case html.TextToken:
			if style {
				s := sheet{w: w, in: w.pieceReader(bytes.NewReader(raw)), out: w.out, from: "style", encoded: w.raw}
				if err := s.run(); err != nil {
					return err
				}
				continue
			}
			if script != "" {
				w.visitScript(script, raw)
			}
		case html.CommentToken:
			raw = w.visitConditional(w.visitInstruction(raw))
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

// visitTag finds the links in a start tag. It returns the element name and the
// tag with its references replaced.
func (w *walk) visitTag(z *html.Tokenizer, raw []byte) (string, []byte) {
	if w.out != nil {
		raw = bytes.Clone(raw)
	}
	z = w.decodeTag(z, raw)
	b, more := z.TagName()
	e := &w.element
	e.name, e.attr = atom.String(b), e.attr[:0]
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if name := atom.String(key); isRelevant(e.name, name) {
			e.attr = append(e.attr, attribute{name, string(value)})
		}
	}
	if len(e.attr) == 0 {
		return e.name, raw
	}
	changes := w.visitElement(e)
	if w.out == nil || len(changes) == 0 {
		return e.name, raw
	}
	return e.name, editTag(raw, changes, w.raw)
}

// visitTruncatedTag finds the links in the first maxToken bytes of a tag that
// is longer than maxToken.
func (w *walk) visitTruncatedTag(raw []byte) {
	if w.out != nil {
		return
	}
	whole := bytes.Clone(raw)
	if quote := scanAttributes(raw, nil); quote != 0 {
		whole = append(whole, quote)
	}
	z := html.NewTokenizer(bytes.NewReader(append(whole, '>')))
	if z.Next() == html.StartTagToken {
		w.visitTag(z, nil)
	}
}

// An element holds the name of a start tag and the attributes that are needed
// to find references.
type element struct {
	name string
	attr []attribute
}

type attribute struct{ key, value string }

// get returns the value of the named attribute, or "" if there is no such
// attribute.
func (e *element) get(key string) string {
	for _, a := range e.attr {
		if a.key == key {
			return a.value
		}
	}
	return ""
}

// visitElement finds the links in the attributes of a start tag. It returns the
// attributes whose values change.
func (w *walk) visitElement(e *element) (changes []attribute) {
	if e.name == "meta" && strings.EqualFold(e.get("name"), "robots") && hasNofollow(e.get("content")) {
		w.nofollow = true
	}
	outside := w.relNofollow
	defer func() { w.relNofollow = outside }()
	w.relNofollow = outside || hasWord(e.get("rel"), "nofollow")
	for _, a := range e.attr {
		if e.name == "base" && a.key == "href" {
			changes = append(changes, attribute{a.key, ""})
			continue
		}
		if w.out != nil && a.key == "href" && isConnectionHint(e) {
			changes = append(changes, attribute{a.key, ""}) // a copy must not cause connections
			continue
		}
		kind, syntax := classifyAttribute(e, a.key)
		if w.out != nil && isAction(e, a.key) {
			kind, syntax = Form, syntaxURL // for every method, because a relative reference has another base in a copy
		}
		from := e.name + " " + a.key
		to := ""
		switch syntax {
		case syntaxURL:
			to = w.visitReference(a.value, kind, from)
		case syntaxSrcset:
			to = w.visitSrcset(a.value, kind, from)
		case syntaxList:
			to = w.visitList(a.value, kind, from)
		case syntaxRefresh:
			to = w.visitRefresh(a.value, from)
		case syntaxCSS:
			to = w.visitStyle(a.value, from)
		case syntaxMarkup:
			to = w.visitNested(a.value, false)
		}
		if to != "" {
			changes = append(changes, attribute{a.key, to})
		}
	}
	if len(changes) > 0 && (e.name == "link" || e.name == "script") {
		// The replacement may have other contents and another origin, so the
		// integrity and crossorigin attributes do not apply to it.
		changes = append(changes, attribute{"integrity", renameToData}, attribute{"crossorigin", renameToData})
	}
	return changes
}

// hasWord reports whether a list separated by white space contains word,
// ignoring case.
func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

// hasNofollow reports whether robots directives, such as "noindex, nofollow",
// forbid following the links of a document.
func hasNofollow(directives string) bool {
	for d := range strings.SplitSeq(directives, ",") {
		if d = strings.TrimSpace(d); strings.EqualFold(d, "nofollow") || strings.EqualFold(d, "none") {
			return true
		}
	}
	return false
}

// visitInstruction finds the link in an xml-stylesheet processing instruction.
// The HTML tokenizer returns processing instructions as comments.
func (w *walk) visitInstruction(raw []byte) []byte {
	const begin = "<?xml-stylesheet"
	if !bytes.HasPrefix(raw, []byte(begin)) {
		return raw
	}
	tag := append([]byte("<x "), raw[len(begin):]...)
	z := html.NewTokenizer(bytes.NewReader(w.decode(tag)))
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
		if to := w.visitReference(string(value), Requisite, "xml-stylesheet"); to != "" {
			edited := editTag(tag, []attribute{{"href", to}}, w.raw)
			return append([]byte(begin), edited[len("<x "):]...)
		}
	}
	return raw
}
