package links

import (
	"bytes"
	"slices"
	"strings"
)

// maxNesting is the maximum nesting depth of HTML documents inside HTML
// attributes and comments.
const maxNesting = 3

// visitNested finds the links in HTML text inside another document, such as a
// srcdoc attribute. It returns the text with its references replaced. If raw is
// true, the text has the charset of the document. visitNested returns false if
// the text is nested too deeply.
func (w *walk) visitNested(text string, raw bool) (to string, ok bool) {
	if w.nesting >= maxNesting {
		return "", false
	}
	var out strings.Builder
	inner := &walk{
		scheme: w.scheme, base: w.base, stated: w.stated, nofollow: w.nofollow, relNofollow: w.relNofollow, visit: w.visit,
		charset: w.charset, raw: raw, tokenLimit: w.tokenLimit, nesting: w.nesting + 1,
	}
	if w.out != nil {
		inner.out = &out
	}
	err := inner.visitMarkup(&pushback{r: strings.NewReader(text)}, false)
	w.stopped = inner.stopped
	return out.String(), err == nil
}

// visitSrcdoc finds the links in a srcdoc attribute. It returns the new value,
// or "" if the value does not change. The value of an attribute that is nested
// too deeply becomes empty.
func (w *walk) visitSrcdoc(text string) string {
	switch to, ok := w.visitNested(text, false); {
	case w.out == nil || to == text:
		return ""
	case !ok || to == "":
		return " "
	default:
		return to
	}
}

// visitComment finds the links in a comment, a declaration or a processing
// instruction. It returns the text with its references replaced.
func (w *walk) visitComment(t *tokens, raw []byte) []byte {
	if t.inSubset {
		return entityOf(raw)
	}
	if to := w.visitConditional(raw); to != nil {
		return to
	}
	return w.normalComment(t, w.visitInstruction(raw))
}

// visitConditional finds the links in a conditional comment of Internet
// Explorer, such as <!--[if IE]>...<![endif]-->. It returns the comment with its
// references replaced, or nil for another comment.
func (w *walk) visitConditional(raw []byte) []byte {
	const end = "<![endif]-->"
	at := bytes.Index(raw, []byte("]>"))
	if !bytes.HasPrefix(raw, []byte("<!--[if")) || !bytes.HasSuffix(raw, []byte(end)) || at < 0 || at+2 > len(raw)-len(end) {
		return nil
	}
	text := string(raw[at+2 : len(raw)-len(end)])
	switch to, ok := w.visitNested(text, w.raw); {
	case w.out == nil:
		return raw
	case !ok:
		return nil
	default:
		return slices.Concat(raw[:1], escapeMarkup(raw[1:at+2]), []byte(to), []byte(end))
	}
}
