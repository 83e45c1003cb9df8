package links

import (
	"bytes"
	"strings"
)

// renameToData is a special attribute value for editTag. It means that editTag
// adds the prefix "data-" to the name of the attribute.
const renameToData = "\x00"

// editTag returns a copy of an HTML start tag with new attribute values.
// Attributes without a change are copied unchanged. If ascii is true, the new
// values contain only ASCII characters.
func editTag(tag []byte, changes []attribute, ascii bool) []byte {
	out := make([]byte, 0, len(tag)+256)
	at := 0
	scanAttributes(tag, func(key []byte, from, start, end int, quote byte) {
		for i, c := range changes {
			if c.key == "" || !isKey(key, c.key) {
				continue
			}
			changes[i].key = "" // only the first attribute of that name counts
			if c.value == renameToData {
				out = append(append(out, tag[at:from]...), "data-"...)
				at = from
				return
			}
			if start == 0 {
				return // the attribute has no value
			}
			out = append(out, tag[at:start]...)
			value := len(out)
			if out = appendValue(out, c.value, quote); ascii {
				out = appendASCII(out[:value], string(out[value:]))
			}
			at = end
			return
		}
	})
	return append(out, tag[at:]...)
}

// withoutRepeated returns a start tag of an XML document without the attributes
// whose names differ from that of an earlier attribute only in their case. The
// tokenizer ignores them, but a browser reads HREF and href as two attributes.
func withoutRepeated(tag []byte) []byte {
	var out []byte
	at := 0
	seen := map[string]bool{}
	scanAttributes(tag, func(key []byte, from, start, end int, quote byte) {
		name := string(bytes.ToLower(key))
		if !seen[name] {
			seen[name] = true
			return
		}
		switch {
		case start == 0:
			end = from + len(key)
		case quote != 0:
			end++
		}
		out, at = append(out, tag[at:from]...), end
	})
	if at == 0 {
		return tag
	}
	return append(out, tag[at:]...)
}

// isKey reports whether key is the attribute name lower. It ignores the case of
// ASCII letters only, as browsers do: "\u017frc" is not src.
func isKey(key []byte, lower string) bool {
	if len(key) != len(lower) {
		return false
	}
	for i, c := range key {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// appendValue appends an attribute value and escapes it for the given quotation
// mark. If quote is 0, appendValue also adds double quotes.
func appendValue(dst []byte, value string, quote byte) []byte {
	if quote == 0 {
		return append(appendValue(append(dst, '"'), value, '"'), '"')
	}
	for i := range len(value) {
		switch c := value[i]; {
		case c == '&':
			dst = append(dst, "&amp;"...)
		case c == 0x1b: // see byteFilter
			dst = append(dst, "&#27;"...)
		case c == quote && c == '"':
			dst = append(dst, "&quot;"...)
		case c == quote:
			dst = append(dst, "&#39;"...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// scanAttributes calls visit for every attribute of an HTML start tag. The
// parameter from is the offset of the attribute name. The value is
// tag[start:end], and start is 0 if the attribute has no value. quote is the
// quotation mark, or 0.
//
// The parser follows the HTML standard (13.2.5.32 to 13.2.5.40). If the tag
// ends inside a quoted value, scanAttributes returns the quotation mark.
func scanAttributes(tag []byte, visit func(key []byte, from, start, end int, quote byte)) (open byte) {
	s := scanner{tag, 0}
	s.upTo(whitespace + "/>")
	for s.skip(whitespace + "/"); s.at < len(tag) && tag[s.at] != '>'; s.skip(whitespace + "/") {
		from := s.at
		if tag[s.at] == '=' {
			s.at++
		}
		s.upTo(whitespace + "/>=")
		key := tag[from:s.at]
		start, end, quote := 0, 0, byte(0)
		if s.skip(whitespace); s.at < len(tag) && tag[s.at] == '=' {
			s.at++
			s.skip(whitespace)
			start = s.at
			if s.at < len(tag) && (tag[s.at] == '"' || tag[s.at] == '\'') {
				quote = tag[s.at]
				s.at++
				start = s.at
				i := bytes.IndexByte(tag[s.at:], quote)
				if i < 0 {
					return quote
				}
				end = s.at + i
				s.at = end + 1
			} else {
				s.upTo(whitespace + ">")
				end = s.at
			}
		}
		if visit != nil {
			visit(key, from, start, end, quote)
		}
	}
	return 0
}

type scanner struct {
	text []byte
	at   int
}

// skip advances past all following bytes that are in set.
func (s *scanner) skip(set string) {
	for s.at < len(s.text) && strings.IndexByte(set, s.text[s.at]) >= 0 {
		s.at++
	}
}

// upTo advances to the next byte that is in set.
func (s *scanner) upTo(set string) {
	for s.at < len(s.text) && strings.IndexByte(set, s.text[s.at]) < 0 {
		s.at++
	}
}
