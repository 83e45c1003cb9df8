package links

import (
	"bytes"
	"strings"
)

// maxNesting is the maximum nesting of documents inside a document.
const maxNesting = 3

// visitNested visits the links of HTML text inside the document. It returns the
// text with its references replaced, or "" if no reference changes.
func (w *walk) visitNested(text string) string {
	if w.nesting >= maxNesting {
		return ""
	}
	var out strings.Builder
	inner := &walk{
		base: w.base, stated: w.stated, nofollow: w.nofollow, visit: w.visit, tokenLimit: w.tokenLimit, nesting: w.nesting + 1,
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

// visitConditional visits the links of a conditional comment, such as
// <!--[if IE]>...<![endif]-->.
func (w *walk) visitConditional(raw []byte) []byte {
	const end = "<![endif]-->"
	at := bytes.Index(raw, []byte("]>"))
	if !bytes.HasPrefix(raw, []byte("<!--[if")) || !bytes.HasSuffix(raw, []byte(end)) || at < 0 || at+2 > len(raw)-len(end) {
		return raw
	}
	head, text := bytes.Clone(raw[:at+2]), string(raw[at+2:len(raw)-len(end)])
	if to := w.visitNested(text); to != "" {
		return append(append(head, to...), end...)
	}
	return raw
}
