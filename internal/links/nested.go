package links

import (
	"bytes"
	"strings"
)

// maxNesting is the maximum nesting depth of HTML documents inside HTML
// attributes and comments.
const maxNesting = 3

// visitNested finds the links in HTML text inside another document, such as a
// srcdoc attribute. It returns the text with its references replaced, or "" if
// the text does not change. If raw is true, the text has the charset of the
// document.
func (w *walk) visitNested(text string, raw bool) string {
	if w.nesting >= maxNesting {
		return ""
	}
	var out strings.Builder
	inner := &walk{
		base: w.base, stated: w.stated, nofollow: w.nofollow, relNofollow: w.relNofollow, visit: w.visit,
		charset: w.charset, raw: raw, tokenLimit: w.tokenLimit, nesting: w.nesting + 1,
	}
	if w.out != nil {
		inner.out = &out
	}
	if err := inner.visitMarkup(&pushback{r: strings.NewReader(text)}, false); err != nil {
		return ""
	}
	w.stopped = inner.stopped
	if out.String() == text {
		return ""
	}
	return out.String()
}

// visitConditional finds the links in a conditional comment of Internet
// Explorer, such as <!--[if IE]>...<![endif]-->.
func (w *walk) visitConditional(raw []byte) []byte {
	const end = "<![endif]-->"
	at := bytes.Index(raw, []byte("]>"))
	if !bytes.HasPrefix(raw, []byte("<!--[if")) || !bytes.HasSuffix(raw, []byte(end)) || at < 0 || at+2 > len(raw)-len(end) {
		return raw
	}
	head, text := bytes.Clone(raw[:at+2]), string(raw[at+2:len(raw)-len(end)])
	if to := w.visitNested(text, w.raw); to != "" {
		return append(append(head, to...), end...)
	}
	return raw
}
