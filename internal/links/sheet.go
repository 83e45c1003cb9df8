package links

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	maxIdent = 64
	pieceLen = 4 << 10 // of what is written at once
)

// A sheet goes through CSS by the tokens of CSS Syntax Level 3, as far as they
// matter for where a URL stands.
type sheet struct {
	w       *walk
	in      *bufio.Reader
	out     io.Writer // nil: nothing is written
	from    string
	changed bool

	raw   []byte // read and not yet written
	value []byte // of the name, string or URL that is read
	over  bool   // it is too long to be kept
	at    string // the rule whose head this is: "import"
	depth int    // open parentheses
	set   int    // depth at which strings are images; 0: none
	err   error
}

func (s *sheet) run() error {
	for !s.w.stopped && s.err == nil {
		if len(s.raw) >= pieceLen {
			s.flush()
		}
		b, ok := s.next()
		if !ok {
			break
		}
		switch {
		case b == '/':
			if s.follows('*') {
				s.comment()
			}
		case b == '"' || b == '\'':
			s.text(b, s.set > 0 && s.depth == s.set || s.at == "import" && s.depth == 0)
		case b == '@':
			if b, ok := s.next(); ok {
				s.name(b)
				s.at = s.ident()
			}
		case b == '#':
			if b, ok := s.next(); ok && (inName(b) || b == '\\') {
				s.name(b)
			} else if ok {
				s.back()
			}
		case inName(b) || b == '\\':
			if s.name(b); s.follows('(') {
				s.function(s.ident())
			}
		case b == '(':
			s.depth++
		case b == ')':
			s.closed()
		case b == ';' || b == '{' || b == '}':
			s.at, s.depth, s.set = "", 0, 0
		}
	}
	s.flush()
	if s.err == io.EOF {
		return nil
	}
	return s.err
}

func (s *sheet) next() (byte, bool) {
	b, err := s.in.ReadByte()
	if err != nil {
		if s.err == nil {
			s.err = err
		}
		return 0, false
	}
	if s.out != nil {
		if len(s.raw) > maxReference {
			s.over = true
			s.flush()
		}
		s.raw = append(s.raw, b)
	}
	return b, true
}

// back puts the last byte back.
func (s *sheet) back() {
	s.in.UnreadByte()
	if s.out != nil {
		s.raw = s.raw[:len(s.raw)-1]
	}
}

// follows reads b if it comes next.
func (s *sheet) follows(b byte) bool {
	c, ok := s.next()
	if ok && c != b {
		s.back()
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

func (s *sheet) comment() {
	star := false
	for {
		if len(s.raw) >= pieceLen {
			s.flush()
		}
		b, ok := s.next()
		if !ok || star && b == '/' {
			return
		}
		star = b == '*'
	}
}

func inName(b byte) bool {
	return 'a' <= b|0x20 && b|0x20 <= 'z' || '0' <= b && b <= '9' || b == '-' || b == '_' || b >= 0x80
}

// name reads a name or a number that begins with b, which is read already.
func (s *sheet) name(b byte) {
	s.begin()
	for ok := true; ok; b, ok = s.next() {
		switch {
		case b == '\\':
			s.escape()
		case inName(b):
			s.add(b)
		default:
			s.back()
			return
		}
	}
}

// ident is the name that was read, in lower case.
func (s *sheet) ident() string {
	if len(s.value) > maxIdent {
		return ""
	}
	return strings.ToLower(string(s.value))
}

func (s *sheet) begin() { s.value, s.over = s.value[:0], false }

func (s *sheet) add(b byte) {
	if len(s.value) > maxReference {
		s.over = true
		return
	}
	s.value = append(s.value, b)
}

// escape reads what a backslash escapes.
func (s *sheet) escape() {
	b, ok := s.next()
	switch {
	case !ok:
	case b == '\n' || b == '\f':
	case b == '\r':
		s.follows('\n')
	case !isHex(b):
		s.add(b)
	default:
		s.hex(b)
	}
}

// hex reads up to six digits and the space behind them.
func (s *sheet) hex(b byte) {
	r := rune(0)
	for n := 0; ; n++ {
		if n == 6 || !isHex(b) {
			if strings.IndexByte(space, b) < 0 {
				s.back()
			} else if b == '\r' {
				s.follows('\n')
			}
			break
		}
		d := rune(b & 15)
		if b > '9' {
			d += 9
		}
		r = r<<4 | d
		var ok bool
		if b, ok = s.next(); !ok {
			break
		}
	}
	if r == 0 || !utf8.ValidRune(r) {
		r = utf8.RuneError
	}
	s.value = utf8.AppendRune(s.value, r)
}

// closed takes a closing parenthesis.
func (s *sheet) closed() {
	if s.depth == s.set {
		s.set = 0
	}
	s.depth = max(s.depth-1, 0)
}

// function takes the opening parenthesis of a function.
func (s *sheet) function(name string) {
	s.depth++
	switch name {
	case "url", "src":
		s.url()
	case "image", "image-set", "-webkit-image-set":
		if s.set == 0 {
			s.set = s.depth
		}
	}
}
