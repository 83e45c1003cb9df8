package links

import (
	"iter"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// header visits the references of a response's header.
func (w *walk) header(h fetch.Header) {
	for _, v := range h.Values("X-Robots-Tag") {
		w.nofollow = w.nofollow || refuses(v)
	}
	for _, v := range h.Values("Link") {
		for l := range field(v) {
			kind, ok := relation(l.rel, l.mediaType)
			if !ok || l.anchored {
				continue
			}
			w.visitFrom(w.base, l.target, Link{Kind: kind, From: "Link " + l.rel, NoFollow: w.nofollow || hasWord(l.rel, "nofollow")})
		}
	}
	for _, v := range h.Values("Refresh") {
		w.refresh(v, "Refresh")
	}
}

// A linkValue is one of a Link field.
type linkValue struct {
	target, rel, mediaType string
	anchored               bool // it is a link of something else
}

// field yields the values of a Link field (RFC 8288 section 3 and appendix
// B.2). What is malformed ends it.
func field(text string) iter.Seq[linkValue] {
	return func(yield func(linkValue) bool) {
		for {
			text = strings.TrimLeft(text, space+",")
			if !strings.HasPrefix(text, "<") {
				return
			}
			var l linkValue
			var ok bool
			if l.target, text, ok = strings.Cut(text[1:], ">"); !ok {
				return
			}
			seen := map[string]bool{}
			for {
				text = strings.TrimLeft(text, space)
				if !strings.HasPrefix(text, ";") {
					break
				}
				var name, value string
				name, value, text = parameter(text[1:])
				if seen[name] {
					continue // the first counts
				}
				seen[name] = true
				switch name {
				case "rel":
					l.rel = value
				case "type":
					l.mediaType = value
				case "anchor":
					l.anchored = true
				}
			}
			if !yield(l) {
				return
			}
		}
	}
}

// parameter reads name=value, the value perhaps quoted, and returns the rest.
func parameter(text string) (name, value, rest string) {
	text = strings.TrimLeft(text, space)
	end := strings.IndexAny(text, space+"=;,")
	if end < 0 {
		return strings.ToLower(text), "", ""
	}
	name, rest = strings.ToLower(text[:end]), strings.TrimLeft(text[end:], space)
	if !strings.HasPrefix(rest, "=") {
		return name, "", rest
	}
	rest = strings.TrimLeft(rest[1:], space)
	if !strings.HasPrefix(rest, `"`) {
		end := strings.IndexAny(rest, space+";,")
		if end < 0 {
			end = len(rest)
		}
		return name, rest[:end], rest[end:]
	}
	var b strings.Builder
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '"':
			return name, b.String(), rest[i+1:]
		case '\\':
			if i++; i == len(rest) {
				return name, b.String(), ""
			}
		}
		b.WriteByte(rest[i])
	}
	return name, b.String(), ""
}
