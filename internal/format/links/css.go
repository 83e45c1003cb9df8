package links

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"
)

// Limits of the CSS parser in bytes.
const (
	maxIdent = 64
	pieceLen = 4 << 10 // size of the output that is written at once
)

// A sheet finds the URLs in a CSS style sheet. It parses only the CSS tokens
// that are necessary for this purpose (CSS Syntax Level 3).
type sheet struct {
	w       *walk
	in      *bufio.Reader
	out     io.Writer // the output, or nil
	from    string
	encoded bool // the input has the charset of the document; otherwise it is in UTF-8
	changed bool

	raw        []byte // input that has not been written yet
	value      []byte // current name, string or URL
	overlong   bool   // value is longer than maxReference
	atRule     string // name of the at-rule whose prelude is being read, such as "import"
	depth      int    // number of open parentheses
	imageDepth int    // depth at which strings are image URLs, or 0
	err        error
}

func (s *sheet) run() error {
	for !s.w.stopped && s.err == nil {
		if len(s.raw) >= pieceLen {
			s.flush()
		}
		b, ok := s.readByte()
		if !ok {
			break
		}
		switch {
		case b == '/':
			if s.accept('*') {
				s.skipComment()
			}
		case b == '"' || b == '\'':
			s.readString(b, s.imageDepth > 0 && s.depth == s.imageDepth || s.atRule == "import" && s.depth == 0)
		case b == '@':
			if b, ok := s.readByte(); ok {
				s.readName(b)
				s.atRule = s.identifier()
			}
		case b == '#':
			if b, ok := s.readByte(); ok && (inName(b) || b == '\\') {
				s.readName(b)
			} else if ok {
				s.unreadByte()
			}
		case inName(b) || b == '\\':
			if s.readName(b); s.accept('(') {
				s.openFunction(s.identifier())
			}
		case b == '(':
			s.depth++
		case b == ')':
			s.closeParen()
		case b == ';' || b == '{' || b == '}':
			s.atRule, s.depth, s.imageDepth = "", 0, 0
		}
	}
	s.flush()
	if s.err == io.EOF {
		return nil
	}
	return s.err
}

func (s *sheet) readByte() (byte, bool) {
	b, err := s.in.ReadByte()
	if err != nil {
		if s.err == nil {
			s.err = err
		}
		return 0, false
	}
	if s.out != nil {
		if len(s.raw) > maxReference {
			s.overlong = true
			s.flush()
		}
		s.raw = append(s.raw, b)
	}
	return b, true
}

// unreadByte puts the last byte back into the input.
func (s *sheet) unreadByte() {
	s.in.UnreadByte()
	if s.out != nil {
		s.raw = s.raw[:len(s.raw)-1]
	}
}

// accept reads the next byte if it equals b. It reports whether the byte was
// read.
func (s *sheet) accept(b byte) bool {
	c, ok := s.readByte()
	if ok && c != b {
		s.unreadByte()
	}
	return ok && c == b
}

func (s *sheet) flush() {
	if s.out == nil || len(s.raw) == 0 {
		return
	}
	if _, err := s.out.Write(s.raw); err != nil && (s.err == nil || s.err == io.EOF) {
		s.err = err
	}
	s.raw = s.raw[:0]
}

func (s *sheet) skipComment() {
	star := false
	for {
		if len(s.raw) >= pieceLen {
			s.flush()
		}
		b, ok := s.readByte()
		if !ok || star && b == '/' {
			return
		}
		star = b == '*'
	}
}

func inName(b byte) bool {
	return 'a' <= b|0x20 && b|0x20 <= 'z' || '0' <= b && b <= '9' || b == '-' || b == '_' || b >= 0x80
}

// readName reads the remaining bytes of a CSS name or number. The first byte b
// has already been read.
func (s *sheet) readName(b byte) {
	s.resetValue()
	for ok := true; ok; b, ok = s.readByte() {
		switch {
		case b == '\\':
			s.readEscape()
		case inName(b):
			s.addByte(b)
		default:
			s.unreadByte()
			return
		}
	}
}

// identifier returns the last CSS name in lower case, or "" if the name is too
// long.
func (s *sheet) identifier() string {
	if len(s.value) > maxIdent {
		return ""
	}
	return strings.ToLower(string(s.value))
}

func (s *sheet) resetValue() { s.value, s.overlong = s.value[:0], false }

func (s *sheet) addByte(b byte) {
	if len(s.value) > maxReference {
		s.overlong = true
		return
	}
	s.value = append(s.value, b)
}

// readEscape reads a CSS escape sequence. The backslash has already been read.
func (s *sheet) readEscape() {
	b, ok := s.readByte()
	switch {
	case !ok:
	case b == '\n' || b == '\f':
	case b == '\r':
		s.accept('\n')
	case !isHex(b):
		s.addByte(b)
	default:
		s.readHexEscape(b)
	}
}

// readHexEscape reads a CSS escape sequence with up to six hexadecimal digits
// and the white space after it. The first digit b has already been read.
func (s *sheet) readHexEscape(b byte) {
	r := rune(0)
	for n := 0; ; n++ {
		if n == 6 || !isHex(b) {
			if strings.IndexByte(whitespace, b) < 0 {
				s.unreadByte()
			} else if b == '\r' {
				s.accept('\n')
			}
			break
		}
		d := rune(b & 15)
		if b > '9' {
			d += 9
		}
		r = r<<4 | d
		var ok bool
		if b, ok = s.readByte(); !ok {
			break
		}
	}
	if r == 0 || !utf8.ValidRune(r) {
		r = utf8.RuneError
	}
	s.value = utf8.AppendRune(s.value, r)
}

// closeParen updates the nesting depth at a closing parenthesis.
func (s *sheet) closeParen() {
	if s.depth == s.imageDepth {
		s.imageDepth = 0
	}
	s.depth = max(s.depth-1, 0)
}

// openFunction parses a CSS function after its opening parenthesis. It reads
// the URL in a url() function.
func (s *sheet) openFunction(name string) {
	s.depth++
	switch name {
	case "url", "src":
		s.readURL()
	case "image", "image-set", "-webkit-image-set":
		if s.imageDepth == 0 {
			s.imageDepth = s.depth
		}
	}
}
