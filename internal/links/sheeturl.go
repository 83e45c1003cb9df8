package links

import "strings"

// text reads a string behind its opening quote; refers tells whether it is a
// reference.
func (s *sheet) text(quote byte, refers bool) {
	s.begin()
	start := len(s.raw)
	for {
		b, ok := s.next()
		switch {
		case !ok:
			if refers {
				s.refer(start, len(s.raw), quote)
			}
			return
		case b == quote:
			if refers {
				s.refer(start, len(s.raw)-1, quote)
			}
			return
		case b == '\n' || b == '\f' || b == '\r':
			s.back()
			return // a bad string, which ends here
		case b == '\\':
			s.escape()
		default:
			s.add(b)
		}
		if !refers && len(s.raw) >= pieceLen {
			s.flush()
		}
	}
}

// url reads the rest of a url() behind its parenthesis.
func (s *sheet) url() {
	b, ok := s.afterSpace()
	switch {
	case !ok:
		return
	case b == '"' || b == '\'':
		s.text(b, true)
		return
	}
	s.begin()
	start := len(s.raw) - 1
	for ok {
		switch {
		case b == ')':
			s.closed()
			s.refer(start, len(s.raw)-1, 0)
			return
		case strings.IndexByte(space, b) >= 0:
			end := len(s.raw) - 1
			if b, ok = s.afterSpace(); ok && b != ')' {
				s.bad(b)
				return
			}
			if ok {
				s.closed()
			}
			s.refer(start, end, 0)
			return
		case b == '"' || b == '\'' || b == '(' || b < ' ' || b == 0x7f:
			s.bad(b)
			return
		case b == '\\':
			s.escape()
		default:
			s.add(b)
		}
		b, ok = s.next()
	}
	s.refer(start, len(s.raw), 0)
}

// afterSpace reads the next byte that is no space.
func (s *sheet) afterSpace() (byte, bool) {
	for {
		b, ok := s.next()
		if !ok || strings.IndexByte(space, b) < 0 {
			return b, ok
		}
	}
}

// bad reads the remnants of a bad URL.
func (s *sheet) bad(b byte) {
	for ok := true; ok; b, ok = s.next() {
		switch b {
		case ')':
			s.closed()
			return
		case '\\':
			s.next()
		}
	}
}

// refer visits the reference that was read, from raw[start:end], and puts into
// its place what is to stand there. Quote is that around it, or 0.
func (s *sheet) refer(start, end int, quote byte) {
	switch s.at {
	case "namespace", "document", "-moz-document", "charset":
		return
	}
	if s.over || len(s.value) == 0 {
		return
	}
	from := s.from + " url"
	if s.at == "import" {
		from = s.from + " @import"
	}
	to := s.w.reference(string(s.value), Requisite, from)
	if to == "" || s.out == nil {
		return
	}
	s.changed = true
	tail := string(s.raw[end:])
	s.raw = append(appendCSS(s.raw[:start], to, quote), tail...)
}

// appendCSS writes a reference as part of a string, or of a url() where quote
// is 0. What could end it, or the element around it, is escaped.
func appendCSS(dst []byte, ref string, quote byte) []byte {
	wrap := quote == 0 && strings.ContainsAny(ref, "\"'()\\<"+space)
	if wrap {
		quote = '"'
		dst = append(dst, quote)
	}
	for i := range len(ref) {
		switch c := ref[i]; {
		case c == '\\' || c == quote && quote != 0:
			dst = append(dst, '\\', c)
		case c == '<':
			dst = append(dst, `\3c `...)
		case c < ' ':
			dst = append(dst, '\\', "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15], ' ')
		default:
			dst = append(dst, c)
		}
	}
	if wrap {
		dst = append(dst, quote)
	}
	return dst
}
