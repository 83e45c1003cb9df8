package links

import (
	"bufio"
	"io"
	"strings"
)

const space = " \t\r\n\f"

// candidates visits the references of a srcset (HTML 4.8.4.2.1) and returns it
// with what is to stand there, or "" where nothing changes.
func (w *walk) candidates(text string, kind Kind, from string) string {
	c := change{text: text}
	for at := 0; at < len(text); {
		if strings.IndexByte(space+",", text[at]) >= 0 {
			at++
			continue
		}
		end := at + len(word(text[at:]))
		url := strings.TrimRight(text[at:end], ",")
		to := w.reference(url, kind, from)
		if bare := strings.Trim(to, ","); len(bare) < len(to) { // which would not be read as part of it
			to = strings.ReplaceAll(to, ",", "%2C")
		}
		c.put(at, at+len(url), to)
		if len(url) == end-at { // descriptors, up to a comma outside of parentheses
			for inside := false; end < len(text) && (inside || text[end] != ','); end++ {
				inside = text[end] == '(' || inside && text[end] != ')'
			}
		}
		at = end
	}
	return c.done()
}

// word is what text begins with, up to a space.
func word(text string) string {
	if i := strings.IndexAny(text, space); i >= 0 {
		return text[:i]
	}
	return text
}

// list visits references that spaces or commas separate.
func (w *walk) list(text string, kind Kind, from string) string {
	c := change{text: text}
	for at := 0; at < len(text); {
		end := strings.IndexAny(text[at:], space+",")
		if end < 0 {
			end = len(text) - at
		}
		if end > 0 {
			to := w.reference(text[at:at+end], kind, from)
			c.put(at, at+end, strings.ReplaceAll(to, ",", "%2C"))
		}
		at += end + 1
	}
	return c.done()
}

// refresh visits the reference of a refresh: seconds, then perhaps ";" or ","
// and perhaps "url=", and quotes.
func (w *walk) refresh(text, from string) string {
	rest := strings.TrimLeft(text, space)
	rest = strings.TrimLeft(rest, "0123456789.")
	rest = strings.TrimLeft(rest, space)
	if rest == "" || rest[0] != ';' && rest[0] != ',' && len(rest) == len(text) {
		return ""
	}
	rest = strings.TrimLeft(strings.TrimLeft(rest, ";,"), space)
	if len(rest) >= 3 && strings.EqualFold(rest[:3], "url") {
		if value := strings.TrimLeft(rest[3:], space); strings.HasPrefix(value, "=") {
			rest = strings.TrimLeft(value[1:], space)
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
	c := change{text: text}
	at := len(text) - len(rest)
	c.put(at, at+len(url), strings.ReplaceAll(w.reference(url, Page, from), "'", "%27"))
	return c.done()
}

// small is a reader of a piece of CSS in a document.
func (w *walk) small(r io.Reader) *bufio.Reader {
	if w.piece == nil {
		w.piece = bufio.NewReaderSize(nil, 1<<10)
	}
	w.piece.Reset(r)
	return w.piece
}

// inline visits the references of a style attribute.
func (w *walk) inline(text, from string) string {
	if !strings.Contains(text, "(") {
		return ""
	}
	var out strings.Builder
	s := sheet{w: w, in: w.small(strings.NewReader(text)), from: from}
	if w.out != nil {
		s.out = &out
	}
	s.run()
	if !s.changed {
		return ""
	}
	return out.String()
}

// A change is a text of which pieces are replaced, in order.
type change struct {
	text string
	out  strings.Builder
	at   int // up to here text is in out
}

// put replaces text[from:to], unless by "".
func (c *change) put(from, to int, by string) {
	if by == "" {
		return
	}
	c.out.WriteString(c.text[c.at:from])
	c.out.WriteString(by)
	c.at = to
}

// done is the text, or "" if nothing was replaced.
func (c *change) done() string {
	if c.at == 0 {
		return ""
	}
	c.out.WriteString(c.text[c.at:])
	return c.out.String()
}
