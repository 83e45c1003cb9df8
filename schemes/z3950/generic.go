package z3950

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/anyurl/fetch/internal/wire/ber"
	"github.com/anyurl/fetch/schemes/internal/textform"
)

// A GRS-1 record is a tree of tagged elements. It is shown as lines with the
// path of tags and the value, such as "(2,1) Title of a book".

const (
	maxGeneric       = 10_000 // elements of a record, at all levels
	maxGenericDepth  = 20
	titleTag         = "(2,1)" // tag set G: title
	maxGenericLength = 1000    // bytes of a tag
)

// A generic renders a GRS-1 record by calling line for each element.
type generic struct {
	count int
	size  int // bytes of the text so far
	line  func(depth int, tag, value string)
}

// indentation precedes each line of an element, once for each level.
const indentation = "    "

// genericText returns the text of an encoded GRS-1 record.
func genericText(data []byte) ([]byte, error) {
	var b bytes.Buffer
	g := generic{line: func(depth int, tag, value string) {
		fmt.Fprintf(&b, "%s%s", strings.Repeat(indentation, depth), tag)
		if value != "" {
			b.WriteString(" " + strings.ReplaceAll(value, "\n", "\n"+strings.Repeat(indentation, depth+1)))
		}
		b.WriteByte('\n')
	}}
	e, _, err := ber.Cut(data)
	if err == nil {
		err = g.elements(e, 0)
	}
	return b.Bytes(), err
}

// genericTitle returns the title of an encoded GRS-1 record.
func genericTitle(data []byte) (title string, err error) {
	g := generic{line: func(_ int, tag, value string) {
		if tag == titleTag && title == "" {
			title = value
		}
	}}
	e, _, err := ber.Cut(data)
	if err == nil {
		err = g.elements(e, 0)
	}
	return title, err
}

// errTextSize is the error for a record whose text is too large.
var errTextSize = fmt.Errorf("%w: the text of the record has more than %d bytes", ber.ErrMalformed, maxTextSize)

// add renders an element. It returns an error if the text of the record would be
// larger than maxTextSize. Each line of a value is indented, so that the text can
// be much larger than the record.
func (g *generic) add(depth int, tag, value string) error {
	lines := 1 + strings.Count(value, "\n")
	if g.size += len(tag) + len(value) + lines*(depth+1)*len(indentation); g.size > maxTextSize {
		return errTextSize
	}
	g.line(depth, tag, value)
	return nil
}

// elements renders a sequence of tagged elements.
func (g *generic) elements(e ber.Element, depth int) error {
	if depth > maxGenericDepth {
		return fmt.Errorf("%w: record of more than %d levels", ber.ErrMalformed, maxGenericDepth)
	}
	all, err := e.Children(maxGeneric)
	if err != nil {
		return err
	}
	for _, tagged := range all {
		if g.count++; g.count > maxGeneric {
			return fmt.Errorf("%w: record of more than %d elements", ber.ErrMalformed, maxGeneric)
		}
		if err := g.element(tagged, depth); err != nil {
			return err
		}
	}
	return nil
}

// element renders a TaggedElement.
func (g *generic) element(e ber.Element, depth int) error {
	parts, err := e.Children(16)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(parts, func(p ber.Element) bool { return p.Is(4) }) {
		return fmt.Errorf("%w: element %v without content in a record", ber.ErrMalformed, e)
	}
	kind, tag := "?", "?"
	for _, p := range parts {
		switch {
		case p.Is(1):
			n, err := p.Int()
			if err != nil {
				return err
			}
			kind = fmt.Sprint(n)
		case p.Is(2):
			if tag, err = tagText(p); err != nil {
				return err
			}
		case p.Is(4):
			if err := g.content(p, depth, "("+kind+","+tag+")"); err != nil {
				return err
			}
		}
	}
	return nil
}

// tagText returns the tag of an element, or a unit: a string or a number.
func tagText(e ber.Element) (string, error) {
	inner, err := e.Only()
	if err != nil {
		return "", err
	}
	if inner.Is(2) || inner.IsUniversal(ber.Integer) {
		n, err := inner.Int()
		return fmt.Sprint(n), err
	}
	b, err := inner.Bytes()
	return printable(b[:min(len(b), maxGenericLength)]), err
}

// content renders the value of an element, or its subtree.
func (g *generic) content(e ber.Element, depth int, tag string) error {
	v, err := e.Only()
	if err != nil {
		return err
	}
	if v.Is(6) { // subtree [6] SEQUENCE OF TaggedElement, an explicit tag
		subtree, err := v.Only()
		if err == nil {
			err = g.add(depth, tag, "")
		}
		if err != nil {
			return err
		}
		return g.elements(subtree, depth+1)
	}
	if len(v.Value) > maxTextSize { // before the value is converted
		return errTextSize
	}
	text, err := valueText(v)
	if err != nil {
		return err
	}
	return g.add(depth, tag, text)
}

// valueText returns the text of the content of an element without a subtree.
func valueText(v ber.Element) (string, error) {
	switch {
	case v.IsUniversal(ber.Integer):
		n, err := v.Int()
		return fmt.Sprint(n), err
	case v.IsUniversal(ber.Boolean):
		b, err := v.Bool()
		return fmt.Sprint(b), err
	case v.IsUniversal(ber.OID):
		return v.OID()
	case v.Class == ber.Universal && !v.IsUniversal(ber.External):
		b, err := v.Bytes()
		return strings.TrimRight(textform.UTF8(b), "\n"), err
	case v.Is(1):
		return quantityText(v)
	case v.Class == ber.Context:
		return map[uint32]string{2: "(not there)", 3: "(empty)", 4: "(not requested)", 5: "(diagnostic)"}[v.Tag], nil
	}
	return "(external data)", nil
}

// quantityText returns the number and the unit of an IntUnit.
func quantityText(e ber.Element) (text string, err error) {
	parts, err := e.Children(2)
	for _, p := range parts {
		var units []ber.Element
		switch {
		case err != nil:
			return "", err
		case p.Is(1):
			var n int64
			n, err = p.Int()
			text += fmt.Sprint(n)
		case p.Is(2):
			units, err = p.Children(4)
		}
		for _, u := range units {
			if u.Is(3) && err == nil {
				var unit string
				unit, err = tagText(u)
				text += " " + unit
			}
		}
	}
	return text, err
}
