package gopher

import (
	"io"
	"iter"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// attributes contains the Gopher+ attributes of one item, in the order of the
// response (Gopher+ memo, section 2.5 and appendix I).
type attributes []attribute

// An attribute is one line of an attribute block, such as the block +ADMIN or
// +VIEWS. A block without lines is represented by an empty line.
type attribute struct{ block, line string }

// maxAttributes is the maximum size of the attributes of one item, in bytes.
const maxAttributes = 1 << 20

// items parses the attributes of several items. Each item begins with a line
// "+INFO: ". UMN gopherd omits the colon for its root menu. Attributes before
// the first +INFO are returned as a separate item.
func items(r io.Reader) iter.Seq2[attributes, error] {
	return func(yield func(attributes, error) bool) {
		var a attributes
		size, block := 0, ""
		for text, err := range textform.Lines(r, maxLine) {
			if err != nil {
				yield(nil, err)
				return
			}
			l := string(text)
			if l == "." {
				break
			}
			if size += len(l) + 1; size > maxAttributes {
				yield(nil, fetch.TooLarge.Errorf("attributes of one item exceed %d bytes", maxAttributes))
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

// add appends a line of the given attribute block to a.
func (a attributes) add(block, line string) attributes {
	if n := len(a); n > 0 && a[n-1] == (attribute{block, ""}) {
		a[n-1].line = line
		return a
	}
	return append(a, attribute{block, line})
}

// blockStart parses the first line of an attribute block, such as "+NAME:
// rest".
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

// lines returns the lines of one attribute block. The names of blocks are
// case-sensitive.
func (a attributes) lines(block string) (lines []string) {
	for _, l := range a {
		if l.block == block && l.line != "" {
			lines = append(lines, l.line)
		}
	}
	return lines
}

// info returns the menu line in the +INFO attribute of the item, or "".
func (a attributes) info() string {
	for _, l := range a.lines("INFO") {
		return l
	}
	return ""
}

// header returns the attributes as header fields. The name of each field is the
// name of the attribute block.
func (a attributes) header() fetch.Header {
	h := make(fetch.Header, len(a))
	for i, l := range a {
		h[i] = fetch.Field{Name: l.block, Value: textform.UTF8(l.line)}
	}
	return h
}

// time returns the modification time of the item. The server does not state a
// time zone, so the time is interpreted as UTC.
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

// media returns the media type of the item if it has exactly one view, and
// otherwise "".
func (a attributes) media() string {
	if v := a.views(); len(v) == 1 {
		return v[0].media
	}
	return ""
}

// plusEntries parses the Gopher+ attributes of several items and yields one
// listing entry for each item.
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

// plusEntry converts the attributes of an item to an entry. The keys of
// Entry.Extra are the names of the attribute blocks in lower case.
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
			name := strings.ToLower(textform.UTF8(l.block))
			blocks[name] = append(blocks[name], textform.UTF8(l.line))
		}
	}
	for name, lines := range blocks {
		e.Extra[name] = strings.Join(lines, "\n")
	}
	return e
}
