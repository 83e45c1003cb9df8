package links

import (
	"bufio"
	"io"
	"strings"
)

const whitespace = " \t\r\n\f"

// visitSrcset calls visitReference for each reference in a srcset attribute
// (HTML 4.8.4.2.1). It returns the new attribute value, or "" if the value does
// not change.
func (w *walk) visitSrcset(text string, kind Kind, from string) string {
	c := replacer{text: text}
	for at := 0; at < len(text); {
		if strings.IndexByte(whitespace+",", text[at]) >= 0 {
			at++
			continue
		}
		end := at + len(firstWord(text[at:]))
		url := strings.TrimRight(text[at:end], ",")
		to := w.visitReference(url, kind, from)
		// In a srcset attribute, a comma at the start or end of a URL is not
		// part of the URL. Therefore such commas are percent-encoded.
		if bare := strings.Trim(to, ","); len(bare) < len(to) {
			to = strings.ReplaceAll(to, ",", "%2C")
		}
		c.replace(at, at+len(url), to)
		if len(url) == end-at { // skip descriptors, up to a comma outside parentheses
			for inside := false; end < len(text) && (inside || text[end] != ','); end++ {
				inside = text[end] == '(' || inside && text[end] != ')'
			}
		}
		at = end
	}
	return c.result()
}

// firstWord returns the text before the first white space.
func firstWord(text string) string {
	if i := strings.IndexAny(text, whitespace); i >= 0 {
		return text[:i]
	}
	return text
}

// visitList calls visitReference for each reference in a list that is separated
// by spaces or commas.
func (w *walk) visitList(text string, kind Kind, from string) string {
	c := replacer{text: text}
	for at := 0; at < len(text); {
		end := strings.IndexAny(text[at:], whitespace+",")
		if end < 0 {
			end = len(text) - at
		}
		if end > 0 {
			to := w.visitReference(text[at:at+end], kind, from)
			c.replace(at, at+end, strings.ReplaceAll(to, ",", "%2C"))
		}
		at += end + 1
	}
	return c.result()
}

// visitRefresh calls visitReference for the URL in a refresh directive, such as
// "5; url=next.html". The URL may be quoted. The prefix "url=" is optional.
func (w *walk) visitRefresh(text, from string) string {
	rest := strings.TrimLeft(text, whitespace)
	rest = strings.TrimLeft(rest, "0123456789.")
	rest = strings.TrimLeft(rest, whitespace)
	if rest == "" || rest[0] != ';' && rest[0] != ',' && len(rest) == len(text) {
		return ""
	}
	rest = strings.TrimLeft(strings.TrimLeft(rest, ";,"), whitespace)
	if len(rest) >= 3 && strings.EqualFold(rest[:3], "url") {
		if value := strings.TrimLeft(rest[3:], whitespace); strings.HasPrefix(value, "=") {
			rest = strings.TrimLeft(value[1:], whitespace)
		}
	}
	url := rest
	if url != "" && (url[0] == '"' || url[0] == '\'') {
		quote := url[0]
		rest = rest[1:]
		if i := strings.IndexByte(rest, quote); i >= 0 {
			url = rest[:i]
		} else {
			url = rest
		}
	}
	c := replacer{text: text}
	at := len(text) - len(rest)
	c.replace(at, at+len(url), strings.ReplaceAll(w.visitReference(url, Page, from), "'", "%27"))
	return c.result()
}

// pieceReader returns a buffered reader for CSS inside an HTML document.
func (w *walk) pieceReader(r io.Reader) *bufio.Reader {
	if w.piece == nil {
		w.piece = bufio.NewReaderSize(nil, 1<<10)
	}
	w.piece.Reset(r)
	return w.piece
}

// visitStyle calls visitReference for each URL in a style attribute. It returns
// the new attribute value, or "" if the value does not change.
func (w *walk) visitStyle(text, from string) string {
	if !strings.Contains(text, "(") {
		return ""
	}
	var out strings.Builder
	s := sheet{w: w, in: w.pieceReader(strings.NewReader(text)), from: from}
	if w.out != nil {
		s.out = &out
	}
	s.run()
	if !s.changed {
		return ""
	}
	return out.String()
}

// A replacer copies a text and replaces substrings. Replacements must be made
// from left to right.
type replacer struct {
	text string
	out  strings.Builder
	at   int // text[:at] has been copied to out
}

// replace replaces text[from:to] by the given string. It does nothing if the
// string is empty.
func (c *replacer) replace(from, to int, by string) {
	if by == "" {
		return
	}
	c.out.WriteString(c.text[c.at:from])
	c.out.WriteString(by)
	c.at = to
}

// result returns the new text, or "" if the text has not changed.
func (c *replacer) result() string {
	if c.at == 0 {
		return ""
	}
	c.out.WriteString(c.text[c.at:])
	return c.out.String()
}
