package gopher

import (
	"io"
	"iter"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// attributes are what Gopher+ knows of one item, block by block (the memo,
// 2.5 and appendix I).
type attributes []attribute

// An attribute is one line of a block; a block without lines has one that is
// empty.
type attribute struct{ block, line string }

// maxAttributes bounds those of one item.
const maxAttributes = 1 << 20

// items reads attributes item by item. Each begins with +INFO, whose colon UMN
// gopherd leaves out for its root; what comes before the first is an item
// too.
func items(r io.Reader) iter.Seq2[attributes, error] {
	return func(yield func(attributes, error) bool) {
		var a attributes
		size, block := 0, ""
		for text, err := range textLines(r) {
			if err != nil {
				yield(nil, err)
				return
			}
			l := string(text)
			if l == "." {
				break
			}
			if size += len(l) + 1; size > maxAttributes {
				yield(nil, fetch.TooLarge.Errorf("more than %d bytes of attributes for one item", maxAttributes))
				return
			}
			name, rest, ok := blockStart(l)
			switch {
			case ok && name == "INFO" && len(a) > 0:
				if !yield(a, nil) {
					return
				}
				a, size = nil, 0
				fallthrough
			case ok:
				block = name
				a = append(a, attribute{block, rest})
			case l != "":
				a = a.add(block, strings.TrimPrefix(l, " "))
			}
		}
		if len(a) > 0 {
			yield(a, nil)
		}
	}
}

// add adds a line to the present block.
func (a attributes) add(block, line string) attributes {
	if n := len(a); n > 0 && a[n-1] == (attribute{block, ""}) {
		a[n-1].line = line
		return a
	}
	return append(a, attribute{block, line})
}

// blockStart reads "+NAME: rest".
func blockStart(l string) (name, rest string, ok bool) {
	if l == "" || l[0] != '+' {
		return "", "", false
	}
	i := strings.IndexAny(l, ": ")
	if i < 0 {
		return l[1:], "", true
	}
	return l[1:i], strings.TrimLeft(strings.TrimPrefix(l[i:], ":"), " "), true
}

// lines are those of one block; names are compared as they are.
func (a attributes) lines(block string) (lines []string) {
	for _, l := range a {
		if l.block == block && l.line != "" {
			lines = append(lines, l.line)
		}
	}
	return lines
}

// info is the line of the item as a menu has it, or "".
func (a attributes) info() string {
	for _, l := range a.lines("INFO") {
		return l
	}
	return ""
}

// header shows a as fields: the name is that of the block.
func (a attributes) header() fetch.Header {
	h := make(fetch.Header, len(a))
	for i, l := range a {
		h[i] = fetch.Field{Name: l.block, Value: decode(l.line)}
	}
	return h
}

// time is when the item last changed. The server does not say in which zone,
// so it is taken for UTC.
func (a attributes) time() time.Time {
	for _, l := range a.lines("ADMIN") {
		date, ok := strings.CutPrefix(l, "Mod-Date:")
		if !ok {
			continue
		}
		_, date, _ = strings.Cut(date, "<")
		date, _, _ = strings.Cut(date, ">")
		if t, err := time.Parse("20060102150405", date); err == nil {
			return t
		}
	}
	return time.Time{}
}

// media is the media type of the item's one view, or "" where it has more.
// The sizes of views are approximate, and so no use.
func (a attributes) media() string {
	if v := a.views(); len(v) == 1 {
		return v[0].media
	}
	return ""
}

// plusEntries reads attributes as a listing.
func plusEntries(base uri.URI, r io.Reader) iter.Seq2[fetch.Entry, error] {
	return func(yield func(fetch.Entry, error) bool) {
		p := newMenuParser(base)
		for a, err := range items(r) {
			if err != nil {
				yield(fetch.Entry{}, err)
				return
			}
			if !yield(p.plusEntry(a), nil) {
				return
			}
		}
	}
}

// plusEntry is an entry with its attributes under their names, in lower case,
// in Extra.
func (p *menuParser) plusEntry(a attributes) fetch.Entry {
	e := p.entry([]byte(a.info()))
	e.Time = a.time()
	if m := a.media(); m != "" {
		e.Media = m
	}
	if e.Extra == nil {
		e.Extra = map[string]string{}
	}
	blocks := map[string][]string{}
	for _, l := range a {
		if l.block != "INFO" && l.line != "" {
			name := strings.ToLower(decode(l.block))
			blocks[name] = append(blocks[name], decode(l.line))
		}
	}
	for name, lines := range blocks {
		e.Extra[name] = strings.Join(lines, "\n")
	}
	return e
}
