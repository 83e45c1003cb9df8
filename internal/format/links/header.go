package links

import (
	"iter"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// visitHeader finds the links in the header fields of a response.
func (w *walk) visitHeader(h fetch.Header) {
	for _, v := range h.Values("X-Robots-Tag") {
		w.nofollow = w.nofollow || hasNofollow(v)
	}
	for _, v := range h.Values("Link") {
		for l := range field(v) {
			kind, ok := relationKind(l.rel, l.mediaType)
			if !ok || l.anchored {
				continue
			}
			nofollow := w.nofollow || hasWord(l.rel, "nofollow")
			w.visitFrom(w.base, l.target, Link{Kind: kind, From: "Link " + l.rel, NoFollow: nofollow})
		}
	}
	for _, v := range h.Values("Content-Location") {
		w.visitReference(v, Page, "Content-Location")
	}
	for _, v := range h.Values("Refresh") {
		w.visitRefresh(v, "Refresh")
	}
}

// A linkValue is one link in a Link header field (RFC 8288).
type linkValue struct {
	target, rel, mediaType string
	anchored               bool // the context of the link is another document
}

// field returns an iterator over the links in a Link header field (RFC 8288
// section 3 and appendix B.2). The iterator stops at the first malformed link.
func field(text string) iter.Seq[linkValue] {
	return func(yield func(linkValue) bool) {
		for {
			text = strings.TrimLeft(text, whitespace+",")
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
				text = strings.TrimLeft(text, whitespace)
				if !strings.HasPrefix(text, ";") {
					break
				}
				var name, value string
				name, value, text = parameter(text[1:])
				if seen[name] {
					continue // only the first parameter of a name counts
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

// parameter parses a parameter "name=value" of a Link header field. The value
// may be quoted. parameter also returns the remaining text.
func parameter(text string) (name, value, rest string) {
	text = strings.TrimLeft(text, whitespace)
	end := strings.IndexAny(text, whitespace+"=;,")
	if end < 0 {
		return strings.ToLower(text), "", ""
	}
	name, rest = strings.ToLower(text[:end]), strings.TrimLeft(text[end:], whitespace)
	if !strings.HasPrefix(rest, "=") {
		return name, "", rest
	}
	rest = strings.TrimLeft(rest[1:], whitespace)
	if !strings.HasPrefix(rest, `"`) {
		end := strings.IndexAny(rest, whitespace+";,")
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
