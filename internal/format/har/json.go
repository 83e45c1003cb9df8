package har

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/anyurl/fetch/fetch"
)

const (
	maxDepth = 64      // nested values
	maxSmall = 4 << 20 // bytes of a value that is kept in memory
	maxKey   = 1 << 10 // bytes of a name
)

// A scanner reads JSON text as a stream, because a single string of a HAR file
// can have any size. After an error, it must not be used.
type scanner struct {
	r     *bufio.Reader
	depth int
	copy  *bytes.Buffer // receives the text of the values, or nil
	long  bool          // the text did not fit in copy
	one   [1]byte
}

func syntax(text string) error { return fetch.Mismatch.Errorf("not a HAR file: %s", text) }

// next reads the next byte.
func (s *scanner) next() (byte, error) {
	c, err := s.r.ReadByte()
	if err == io.EOF {
		return 0, fetch.Truncated.Errorf("the HAR file ends within a value")
	}
	if s.copy != nil {
		if s.copy.Len() >= maxSmall {
			s.long = true
		} else {
			s.copy.WriteByte(c)
		}
	}
	return c, err
}

// token reads the next byte that is no space.
func (s *scanner) token() (byte, error) {
	for {
		c, err := s.next()
		if err != nil || c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c, err
		}
	}
}

// list reads the elements of an array or object up to the byte end. The function
// element is called with the first byte of each element.
func (s *scanner) list(end byte, element func(first byte) error) error {
	if s.depth++; s.depth > maxDepth {
		return syntax("too many nested values")
	}
	for first := true; ; first = false {
		c, err := s.token()
		if err != nil {
			return err
		}
		if c == end && first {
			break
		}
		if err := element(c); err != nil {
			return err
		}
		if c, err = s.token(); err != nil {
			return err
		}
		if c == end {
			break
		}
		if c != ',' {
			return syntax("a comma is missing")
		}
	}
	s.depth--
	return nil
}

// object reads an object whose first byte has been read. The function member is
// called with the name and the first byte of each value.
func (s *scanner) object(first byte, member func(name string, first byte) error) error {
	if first != '{' {
		return syntax("an object is missing")
	}
	return s.list('}', func(c byte) error {
		if c != '"' {
			return syntax("a name is missing")
		}
		var name limited
		if err := s.text(&name); err != nil {
			return err
		}
		c, err := s.token()
		if err != nil {
			return err
		}
		if c != ':' {
			return syntax("a colon is missing")
		}
		if c, err = s.token(); err != nil {
			return err
		}
		return member(string(name), c)
	})
}

// limited keeps the first maxKey bytes.
type limited []byte

func (l *limited) Write(p []byte) (int, error) {
	*l = append(*l, p[:min(len(p), maxKey-len(*l))]...)
	return len(p), nil
}

// skip reads a value whose first byte has been read.
func (s *scanner) skip(first byte) error {
	switch first {
	case '{':
		return s.object(first, func(_ string, first byte) error { return s.skip(first) })
	case '[':
		return s.list(']', s.skip)
	case '"':
		return s.text(io.Discard)
	}
	if !isPlain(first) {
		return syntax("a value is missing")
	}
	for {
		b, err := s.r.Peek(1)
		if err != nil || !isPlain(b[0]) {
			return nil // next reports the error
		}
		if _, err := s.next(); err != nil {
			return err
		}
	}
}

// isPlain reports whether c occurs in numbers, true, false or null.
func isPlain(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-' || c == '+' || c == '.' || c == 'E'
}

// small decodes a value whose first byte has been read. It returns false if the
// value is too long or has another type.
func (s *scanner) small(first byte, v any) (ok bool, err error) {
	s.copy, s.long = &bytes.Buffer{}, false
	s.copy.WriteByte(first)
	err = s.skip(first)
	text := s.copy.Bytes()
	s.copy = nil
	return err == nil && !s.long && json.Unmarshal(text, v) == nil, err
}

// text reads a string after its first quote and writes its characters to w in
// UTF-8.
func (s *scanner) text(w io.Writer) error {
	for {
		if err := s.plain(w); err != nil {
			return fetch.LocalError(err)
		}
		c, err := s.next()
		if err != nil || c == '"' {
			return err
		}
		if c < ' ' {
			return syntax("a control character is in a string")
		}
		s.one[0] = c
		decoded := s.one[:]
		if c == '\\' {
			if decoded, err = s.escape(); err != nil {
				return err
			}
		}
		if _, err := w.Write(decoded); err != nil {
			return fetch.LocalError(err)
		}
	}
}

// plain writes the characters in the buffer that end before a quote or an escape
// sequence.
func (s *scanner) plain(w io.Writer) error {
	if s.copy != nil {
		return nil
	}
	p, _ := s.r.Peek(s.r.Buffered())
	for i, c := range p {
		if c == '"' || c == '\\' || c < ' ' {
			p = p[:i]
			break
		}
	}
	_, err := w.Write(p)
	s.r.Discard(len(p))
	return err
}

// escape reads an escape sequence after its backslash, and the second half of a
// surrogate pair. It returns the characters.
func (s *scanner) escape() ([]byte, error) {
	text := []byte(`"\`)
	for want := len(text) + 1; len(text) < want; {
		c, err := s.next()
		if err != nil {
			return nil, err
		}
		if text = append(text, c); c != 'u' || len(text) != want {
			continue
		}
		want += len("ABCD")
		if next, _ := s.r.Peek(len(`ABCD\u`)); len(text) == len(`"\u`) && bytes.HasSuffix(next, []byte(`\u`)) {
			want += len(`\u`)
		}
	}
	var decoded string
	if json.Unmarshal(append(text, '"'), &decoded) != nil {
		return nil, syntax("invalid escape sequence")
	}
	return []byte(decoded), nil
}
