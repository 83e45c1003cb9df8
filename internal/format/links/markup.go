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
			if w.out == nil && len(raw) >= t.max {
				w.visitTruncatedTag(raw)
			}
			done, err := w.resume(t, raw)
			if done || err != nil {
				return err
			}
			continue
		case html.StartTagToken, html.SelfClosingTagToken:
			if t.xml && w.out != nil {
				raw = withoutRepeated(raw)
			}
			name, edited := w.visitTag(t.Tokenizer, raw, kind == html.SelfClosingTagToken)
			t.startElement(name, kind == html.SelfClosingTagToken)
			raw = w.normalTag(t, edited)
			style = name == "style" && (kind == html.StartTagToken || !t.xml && !t.foreign)
			if script = ""; name == "script" && kind == html.StartTagToken {
				script = w.element.get("type")
			}
		case html.EndTagToken:
			style, script = false, ""
			raw = w.normalEndTag(t, raw)
			t.endElement()
		case html.TextToken:
			raw = w.visitText(t, style, script, raw)
		case html.CommentToken:
			raw = w.visitComment(t, raw)
		case html.DoctypeToken:
			raw = w.normalDoctype(t, raw)
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

// visitText finds the links in a text token. The parameter style reports whether
// it is CSS, and script is the type of the script element that contains it.
// visitText returns the text with its references replaced.
func (w *walk) visitText(t *tokens, style bool, script string, raw []byte) []byte {
	if t.inSubset {
		return t.endSubset(raw)
	}
	if style {
		raw = w.visitSheet(raw)
	}
	if script != "" {
		w.visitScript(script, raw)
	}
	return w.normalText(t, script, raw)
}

// visitSheet finds the links in a style element. It returns the text with its
// references replaced.
func (w *walk) visitSheet(text []byte) []byte {
	var out bytes.Buffer
	s := sheet{w: w, in: w.pieceReader(bytes.NewReader(text)), from: "style", encoded: w.raw}
	if w.out != nil {
		s.out = &out
	}
	s.run() // memory returns no error
	if w.out == nil {
		return text
	}
	return out.Bytes()
}

// visitTag finds the links in a start tag. It returns the element name and the
// tag with its references replaced. The parameter closed reports whether the tag
// ends in "/>".
func (w *walk) visitTag(z *html.Tokenizer, raw []byte, closed bool) (string, []byte) {
	if w.out != nil {
		raw = bytes.Clone(raw)
	}
	z = w.decodeTag(z, raw)
	b, more := z.TagName()
	e := &w.element
	name := atom.String(b)
	e.name, e.attr = localName(name), e.attr[:0] // in XML, a prefix can denote the namespace of HTML
	all := w.out != nil && isSerialized(e.name)
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if key := atom.String(key); all || isRelevant(e.name, key) {
			e.attr = append(e.attr, attribute{key, string(value)})
		}
	}
	if len(e.attr) == 0 && !all {
		return name, raw
	}
	changes := w.visitElement(e)
	if all {
		return name, w.serialize(raw, e, changes, closed)
	}
	if w.out == nil || len(changes) == 0 {
		return name, raw
	}
	return name, editTag(raw, changes, w.raw)
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
		if w.out != nil && a.key == "type" && isSpeculationRules(e) {
			changes = append(changes, attribute{a.key, "data-" + a.value})
			continue
		}
		if w.out != nil && a.key == "attributename" && isAnimatedLink(e) {
			changes = append(changes, attribute{a.key, renameToData})
			continue
		}
		kind, syntax := classifyAttribute(e, a.key)
		if w.out != nil && isAction(e, a.key) {
			kind, syntax = Form, syntaxURL // for every method, because a relative reference has another base in a copy
		}
		from := e.name + " " + a.key
		to := ""
		w.kept = false
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
			to = w.visitSrcdoc(a.value)
		}
		isLink := kind == Page && syntax == syntaxURL
		switch {
		case w.out != nil && (to == "" || w.kept) && w.isFetchedEarly(e, a.key),
			w.out != nil && to == "" && isLink && w.isMisread(a.value):
			changes = append(changes, attribute{a.key, ""})
		case to != "":
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
