package links

import (
	"bytes"
	"strings"
)

// aside, for a value, has an attribute stay under another name.
const aside = "\x00"

// edit returns a start tag with other values for some of its attributes.
func edit(tag []byte, changes []attribute) []byte {
	out := make([]byte, 0, len(tag)+256)
	at := 0
	scan(tag, func(key []byte, from, start, end int, quote byte) {
		for i, c := range changes {
			if c.key == "" || !strings.EqualFold(string(key), c.key) {
				continue
			}
			changes[i].key = "" // the first of that name is the one that counts
			if c.value == aside {
				out = append(append(out, tag[at:from]...), "data-"...)
				at = from
				return
			}
			if start == 0 {
				return // it has no value
			}
			out = append(out, tag[at:start]...)
			out = appendValue(out, c.value, quote)
			at = end
			return
		}
	})
	return append(out, tag[at:]...)
}

// appendValue writes the value of an attribute between quotes of that kind; 0:
// none are there, and some are added.
func appendValue(dst []byte, value string, quote byte) []byte {
	if quote == 0 {
		return append(appendValue(append(dst, '"'), value, '"'), '"')
	}
	for i := range len(value) {
		switch c := value[i]; {
		case c == '&':
			dst = append(dst, "&amp;"...)
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

// scan calls each with the attributes of a start tag: the name, where it stands
// and where the value does, between quotes of that kind or 0. Start is 0 where there is no
// value. It reads as the tokenizer does (HTML 13.2.5.32 to 40), and returns the
// quote before which the tag ends, if it is not whole.
func scan(tag []byte, each func(key []byte, from, start, end int, quote byte)) (open byte) {
	s := scanner{tag, 0}
	s.upTo(space + "/>")
	for s.skip(space + "/"); s.at < len(tag) && tag[s.at] != '>'; s.skip(space + "/") {
		from := s.at
		if tag[s.at] == '=' {
			s.at++
		}
		s.upTo(space + "/>=")
		key := tag[from:s.at]
		start, end, quote := 0, 0, byte(0)
		if s.skip(space); s.at < len(tag) && tag[s.at] == '=' {
			s.at++
			s.skip(space)
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
				s.upTo(space + ">")
				end = s.at
			}
		}
		if each != nil {
			each(key, from, start, end, quote)
		}
	}
	return 0
}

type scanner struct {
	text []byte
	at   int
}

// skip goes on behind bytes of set, upTo before the next one.
func (s *scanner) skip(set string) {
	for s.at < len(s.text) && strings.IndexByte(set, s.text[s.at]) >= 0 {
		s.at++
	}
}

func (s *scanner) upTo(set string) {
	for s.at < len(s.text) && strings.IndexByte(set, s.text[s.at]) < 0 {
		s.at++
	}
}
