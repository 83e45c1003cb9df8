package links

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"github.com/anyurl/fetch/internal/base/lazy"
)

// Rewrite writes documents in a form that no browser can read differently,
// because a browser reads some constructs in another way than this package, such
// as foreign content. In this form, a "<" before a letter starts a tag that
// visitTag has read, in whatever state the parser of the browser is. Text and
// attribute values have a character reference or an escape instead. Elements
// that can cause connections or contain a document have only attributes that
// this package has read and written.

// isSerialized reports whether Rewrite writes the tags of an element from their
// attributes. The name may have a namespace prefix.
func isSerialized(name string) bool {
	switch localName(name) {
	case "link", "meta", "base", "iframe", "script":
		return true
	}
	return false
}

// escapeMarkup replaces all "<" in text by character references.
func escapeMarkup(text []byte) []byte {
	if bytes.IndexByte(text, '<') < 0 {
		return text
	}
	return bytes.ReplaceAll(text, []byte("<"), []byte("&lt;"))
}

// escapeText replaces all "&", "<" and ">" in text by character references.
func escapeText(text []byte) []byte {
	return []byte(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(string(text)))
}

// escapeCDATA returns the content of a CDATA section as text. The parameter text
// may contain the end mark of the section.
func escapeCDATA(text []byte) []byte { return escapeText(bytes.TrimSuffix(text, []byte("]]>"))) }

// escapeLetters calls escape for each ASCII letter after a "<" in text. The
// function appends another form of the letter to dst. Words for which keep
// returns true are copied.
func escapeLetters(text []byte, keep func(rest []byte) bool, escape func(dst []byte, c byte) []byte) []byte {
	var out []byte
	at := 0
	for i := 0; i+1 < len(text); i++ {
		if text[i] == '<' && isLetter(text[i+1]) && (keep == nil || !keep(text[i+1:])) {
			out = escape(append(out, text[at:i+1]...), text[i+1])
			at = i + 2
		}
	}
	if at == 0 {
		return text
	}
	return append(out, text[at:]...)
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// escapeCSS writes letters after "<" as escapes, which have the same meaning in
// names, strings and URLs of CSS.
func escapeCSS(text []byte) []byte {
	return escapeLetters(text, nil, func(dst []byte, c byte) []byte {
		return append(strconv.AppendUint(append(dst, '\\'), uint64(c), 16), ' ')
	})
}

// escapeScript writes letters after "<" as escapes, which have the same meaning
// in names, strings, templates and regular expressions of JavaScript and in
// strings of JSON. Keywords cannot contain escapes. No keyword that can follow
// "<" is the name of an element. The text may contain the end tag of another
// script element in a comment, which a browser would then read as the end.
func escapeScript(text []byte) []byte {
	text = endOfScript().ReplaceAll(text, []byte(`<\/$1`))
	return escapeLetters(text, startsKeyword, func(dst []byte, c byte) []byte {
		return strconv.AppendUint(append(dst, `\u00`...), uint64(c), 16)
	})
}

// endOfScript matches the start of the end tag of a script element.
var endOfScript = lazy.Regexp(`(?i)</(script)`)

// startsKeyword reports whether the first word of text is a JavaScript keyword
// that can start an operand.
func startsKeyword(text []byte) bool {
	end := 0
	for end < len(text) && (isLetter(text[end]) || '0' <= text[end] && text[end] <= '9' || text[end] == '_' || text[end] == '$') {
		end++
	}
	switch string(text[:end]) {
	case "this", "new", "typeof", "void", "function", "class", "super", "null", "true", "false", "await", "yield", "import", "delete":
		return true
	}
	return false
}

// isCode reports whether a script element with the given type contains
// JavaScript or JSON. Other script elements, such as elements with the type
// text/template, contain markup for scripts.
func isCode(kind string) bool {
	kind = strings.ToLower(strings.TrimSpace(kind))
	switch kind {
	case "", "module", "importmap", "speculationrules", "text/jscript", "text/livescript":
		return true
	}
	return strings.Contains(kind, "javascript") || strings.Contains(kind, "ecmascript") || strings.Contains(kind, "json")
}

// normalText returns the normal form of a text token. The parameter script is
// the type of the script element that contains the text.
func (w *walk) normalText(t *tokens, script string, raw []byte) []byte {
	switch {
	case w.out == nil:
		return raw
	case (t.xml || t.foreign) && bytes.HasPrefix(raw, []byte("<![CDATA[")):
		return escapeCDATA(raw[len("<![CDATA["):])
	case t.xml:
		return escapeMarkup(raw)
	case t.text == "style":
		return escapeCSS(raw)
	case t.text == "script" && isCode(script):
		return escapeScript(raw)
	case t.text == "script":
		return []byte(w.normalize(string(raw)))
	case isVerbatim(t.text):
		return escapeText(raw)
	}
	if t.text == "" && bytes.IndexByte(raw, '<') >= 0 {
		return escapeLetters(raw, nil, func(dst []byte, c byte) []byte {
			return append(append(dst[:len(dst)-1], "&lt;"...), c)
		})
	}
	return escapeMarkup(raw)
}

// normalize returns the normal form of markup inside a script element. Its links
// have the field Template.
func (w *walk) normalize(text string) string {
	inner := *w
	inner.visit = func(l Link) (string, bool) {
		l.Template = true
		return w.visit(l)
	}
	inner.stated = false
	if to, ok := inner.visitNested(text, w.raw); ok {
		return to
	}
	return string(escapeMarkup([]byte(text)))
}

// isVerbatim reports whether an element displays its raw text without decoding
// character references. Rewrite replaces such an element by pre.
func isVerbatim(name string) bool { return name == "xmp" || name == "plaintext" }

// renameVerbatim replaces the name of an element by pre in a tag. The name
// starts at raw[at]. A browser ignores a line break after the start tag.
func renameVerbatim(raw []byte, at int) []byte {
	out := append(append(raw[:at:at], "pre"...), raw[at+len(tagName(raw[at:])):]...)
	if at == 1 {
		out = append(out, '\n')
	}
	return out
}

// tagName returns the name at the start of the text after "<" or "</".
func tagName(text []byte) []byte {
	if end := bytes.IndexAny(text, whitespace+"/>"); end >= 0 {
		return text[:end]
	}
	return text
}

// normalComment returns the normal form of a comment, a declaration or a
// processing instruction.
func (w *walk) normalComment(t *tokens, raw []byte) []byte {
	const sheet = "<?xml-stylesheet"
	switch {
	case w.out == nil:
		return raw
	case t.xml && bytes.HasPrefix(raw, []byte(sheet)) && !isSheetOfCSS(raw):
		return nil // the document would be replaced by the result of a transformation
	case t.xml && bytes.HasPrefix(raw, []byte("<!")) && !bytes.HasPrefix(raw, []byte("<!--")):
		return nil // a declaration, if the internal subset starts after a ">" in quotation marks
	}
	return append(raw[:1:1], escapeMarkup(raw[1:])...)
}

// plainEntity matches the declaration of an entity that contains no markup and
// no references. Its groups are the name and the value in quotation marks.
var plainEntity = lazy.Regexp(`^<!ENTITY\s+([A-Za-z_][\w.-]*)\s+("[^"<&%]*"|'[^'<&%]*')\s*>$`)

// entityOf returns a declaration in an internal subset if a browser may read it,
// or nil. Other entities could contain elements, or have another value than the
// entity of HTML with the same name, which the tokenizer reads.
func entityOf(raw []byte) []byte {
	found := plainEntity().FindSubmatch(raw)
	if found == nil {
		return nil
	}
	reference, value := "&"+string(found[1])+";", string(found[2][1:len(found[2])-1])
	if known := html.UnescapeString(reference); known != reference && known != value {
		return nil
	}
	return raw
}

// normalDoctype returns the normal form of a document type declaration. In XML,
// the tokenizer ends it after the first declaration of an internal subset.
func (w *walk) normalDoctype(t *tokens, raw []byte) []byte {
	at := bytes.IndexByte(raw, '[')
	switch {
	case w.out == nil:
		return raw
	case !t.xml || at < 0:
		return append(raw[:1:1], escapeMarkup(raw[1:])...)
	}
	first := bytes.TrimLeft(raw[at+1:], whitespace)
	if t.inSubset = !bytes.HasPrefix(first, []byte("]")); t.inSubset {
		first = entityOf(first)
	}
	return slices.Concat(raw[:1], escapeMarkup(raw[1:at+1]), first)
}

// endSubset returns the end of an internal subset if text contains it, and the
// text after it.
func (t *tokens) endSubset(text []byte) []byte {
	at := bytes.IndexByte(text, ']')
	if at < 0 {
		return nil
	}
	t.inSubset = false
	return escapeMarkup(text[at:])
}

// isSheetOfCSS reports whether a processing instruction xml-stylesheet is
// complete and does not name an XSLT style sheet.
func isSheetOfCSS(raw []byte) bool {
	if !bytes.HasSuffix(raw, []byte("?>")) {
		return false
	}
	tag := append([]byte("<x "), raw[len("<?xml-stylesheet"):]...)
	isCSS := true
	scanAttributes(tag, func(key []byte, _, start, end int, _ byte) { // the tokenizer ignores the second of TYPE and type
		kind := strings.ToLower(html.UnescapeString(string(tag[start:end])))
		if isKey(key, "type") && (strings.Contains(kind, "xml") || strings.Contains(kind, "xsl")) {
			isCSS = false
		}
	})
	return isCSS
}

// normalEndTag returns the normal form of an end tag, which has no attributes.
func (w *walk) normalEndTag(t *tokens, raw []byte) []byte {
	if w.out == nil {
		return raw
	}
	name := tagName(raw[2:])
	out := append(raw[:2+len(name):2+len(name)], '>')
	if isVerbatim(t.text) {
		out = renameVerbatim(out, 2)
	}
	return out
}

// normalTag returns the normal form of a start tag whose links have been
// replaced.
func (w *walk) normalTag(t *tokens, raw []byte) []byte {
	if w.out == nil {
		return raw
	}
	if isVerbatim(t.text) {
		raw = renameVerbatim(raw, 1)
	}
	return append(raw[:1:1], escapeMarkup(raw[1:])...)
}

// serialize returns a start tag that consists of the attributes of e with their
// changes. The parameter raw is the original tag.
func (w *walk) serialize(raw []byte, e *element, changes []attribute, closed bool) []byte {
	out := append(make([]byte, 0, len(raw)+256), raw[:1+len(tagName(raw[1:]))]...)
	seen := map[string]bool{}
	for _, a := range e.attr {
		if seen[a.key] || !isPlainName(a.key) {
			continue
		}
		seen[a.key] = true
		key, value := a.key, a.value
		for _, c := range changes {
			if c.key != a.key {
				continue
			}
			if c.value == renameToData {
				key = "data-" + key
			} else {
				value = c.value
			}
			break
		}
		out = append(append(append(out, ' '), key...), '=')
		from := len(out)
		if out = appendValue(out, value, 0); w.raw {
			out = appendASCII(out[:from], string(out[from:]))
		}
	}
	if closed {
		out = append(out, '/')
	}
	return append(out, '>')
}

// isPlainName reports whether an attribute name has the same meaning in HTML and
// XML.
func isPlainName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !isLetter(c) && c != ':' && c != '_' && (i == 0 || (c < '0' || c > '9') && c != '.' && c != '-') {
			return false
		}
	}
	return name != ""
}
