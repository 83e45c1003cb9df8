package links

import "strings"

// readString reads a CSS string. The opening quotation mark has already been
// read. If isURL is true, the string is a reference.
func (s *sheet) readString(quote byte, isURL bool) {
	s.resetValue()
	start := len(s.raw)
	for {
		b, ok := s.readByte()
		switch {
		case !ok:
			if isURL {
				s.visitValue(start, len(s.raw), quote)
			}
			return
		case b == quote:
			if isURL {
				s.visitValue(start, len(s.raw)-1, quote)
			}
			return
		case b == '\n' || b == '\f' || b == '\r':
			s.unreadByte()
			return // a bad string token ends here
		case b == '\\':
			s.readEscape()
		default:
			s.addByte(b)
		}
		if !isURL && len(s.raw) >= pieceLen {
			s.flush()
		}
	}
}

// readURL reads the URL and the closing parenthesis of a CSS url() function.
func (s *sheet) readURL() {
	b, ok := s.afterSpace()
	switch {
	case !ok:
		return
	case b == '"' || b == '\'':
		s.readString(b, true)
		return
	}
	s.resetValue()
	start := len(s.raw) - 1
	for ok {
		switch {
		case b == ')':
			s.closeParen()
			s.visitValue(start, len(s.raw)-1, 0)
			return
		case strings.IndexByte(whitespace, b) >= 0:
			end := len(s.raw) - 1
			if b, ok = s.afterSpace(); ok && b != ')' {
				s.skipBadURL(b)
				return
			}
			if ok {
				s.closeParen()
			}
			s.visitValue(start, end, 0)
			return
		case b == '"' || b == '\'' || b == '(' || b < ' ' || b == 0x7f:
			s.skipBadURL(b)
			return
		case b == '\\':
			s.readEscape()
		default:
			s.addByte(b)
		}
		b, ok = s.readByte()
	}
	s.visitValue(start, len(s.raw), 0)
}

// afterSpace skips white space and returns the next byte.
func (s *sheet) afterSpace() (byte, bool) {
	for {
		b, ok := s.readByte()
		if !ok || strings.IndexByte(whitespace, b) < 0 {
			return b, ok
		}
	}
}

// skipBadURL skips the remaining bytes of a malformed CSS url() function.
func (s *sheet) skipBadURL(b byte) {
	for ok := true; ok; b, ok = s.readByte() {
		switch b {
		case ')':
			s.closeParen()
			return
		case '\\':
			s.readByte()
		}
	}
}

// visitValue calls visitReference for the current CSS value and writes its
// replacement. The value is raw[start:end] and is enclosed in quote, unless
// quote is 0.
func (s *sheet) visitValue(start, end int, quote byte) {
	switch s.atRule {
	case "namespace", "document", "-moz-document", "charset":
		return
	}
	if s.overlong || len(s.value) == 0 {
		return
	}
	from := s.from + " url"
	if s.atRule == "import" {
		from = s.from + " @import"
	}
	value := s.value
	if s.encoded {
		value = s.w.decode(value)
	}
	to := s.w.visitReference(string(value), Requisite, from)
	if to == "" || s.out == nil {
		return
	}
	s.changed = true
	tail := string(s.raw[end:])
	s.raw = append(appendCSS(s.raw[:start], to, quote), tail...)
}

// appendCSS appends the reference ref to dst in CSS syntax. The parameter quote
// is the quotation mark around the reference, or 0 for an unquoted argument of
// url(). appendCSS escapes characters that could end the string or the
// enclosing HTML element.
func appendCSS(dst []byte, ref string, quote byte) []byte {
	wrap := quote == 0 && strings.ContainsAny(ref, "\"'()\\<"+whitespace)
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
