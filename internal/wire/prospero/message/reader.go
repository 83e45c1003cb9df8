package message

import (
	"bufio"
	"io"
	"strings"
)

// A Reader reads lines and splits them into tokens.
type Reader struct {
	src    *bufio.Reader
	quoted bool
	raw    []byte // bytes of the current line
}

// NewReader returns a Reader with its own buffer, which may read ahead in src.
func NewReader(src io.Reader) *Reader { return &Reader{src: bufio.NewReaderSize(src, 4<<10)} }

// Line reads one line, or the remaining tokens after Begin. Empty lines are
// skipped. The last line may have no line end. Line returns io.EOF at the end
// of the input, and io.ErrUnexpectedEOF if the input ends inside quotes.
func (r *Reader) Line() (Line, error) {
	l, _, err := r.Begin(MaxTokens + 1)
	if err == nil && len(l.Tokens) > MaxTokens {
		err = ErrTooLong
	}
	return l, err
}

// Begin reads the first n tokens of a line. The result all is true if the line
// ends after them. Otherwise, Rest or Line reads the remaining tokens.
func (r *Reader) Begin(n int) (l Line, all bool, err error) {
	r.raw = r.raw[:0]
	for len(l.Tokens) < n {
		token, has, last, err := r.token()
		if has {
			l.Tokens = append(l.Tokens, token)
		}
		switch {
		case err == io.EOF && len(l.Tokens) > 0:
			last = true
		case err != nil:
			return Line{}, false, err
		case last && len(l.Tokens) == 0:
			r.raw, last = r.raw[:0], false
		}
		if last {
			l.Raw = strings.TrimSuffix(string(r.raw), "\n")
			return l, true, nil
		}
	}
	l.Raw = string(r.raw)
	return l, false, nil
}

// A lexeme is the class of a byte in a line: text, a quote, a separator or the
// line end.
type lexeme uint8

const (
	text  lexeme = iota // part of a token
	quote               // the delimiter of quoted text
	blank
	end // line end
)

// next reads and classifies one byte. It reads two quotes inside quoted text as
// one byte. If keep is true, it appends the byte to r.raw.
func (r *Reader) next(keep bool) (byte, lexeme, error) {
	c, err := r.src.ReadByte()
	switch {
	case err == io.EOF && r.quoted:
		return 0, 0, io.ErrUnexpectedEOF
	case err != nil:
		return 0, 0, err
	}
	if keep {
		if len(r.raw) == MaxLine {
			return 0, 0, ErrTooLong
		}
		r.raw = append(r.raw, c)
	}
	switch {
	case c == '\'' && r.quoted:
		w, err := r.src.Peek(1)
		if err != nil && err != io.EOF {
			return 0, 0, err
		}
		if len(w) == 0 || w[0] != '\'' {
			r.quoted = false
			return 0, quote, nil
		}
		r.src.Discard(1)
		if keep {
			r.raw = append(r.raw, c)
		}
	case c == '\'':
		r.quoted = true
		return 0, quote, nil
	case r.quoted:
	case c == '\n':
		return 0, end, nil
	case c == ' ' || c == '\t':
		return 0, blank, nil
	}
	return c, text, nil
}

// token reads one token. It returns false for the result named has if the line
// or the input ends before a token. At the end of the line, last is true.
func (r *Reader) token() (token string, has, last bool, err error) {
	var b []byte
	for {
		c, what, err := r.next(true)
		switch {
		case err != nil:
			return string(b), has, false, err
		case what == end:
			return string(b), has, true, nil
		case what == blank && has:
			return string(b), true, false, nil
		case what == blank:
			continue
		case what == text:
			b = append(b, c)
		}
		has = true
	}
}

// Rest returns an io.Reader for the next token of the current line. The token
// may have any size. The Reader must not be used until the io.Reader has
// returned io.EOF.
func (r *Reader) Rest() io.Reader { return &rest{r: r} }

type rest struct {
	r            *Reader
	begun, ended bool
}

func (t *rest) Read(p []byte) (n int, err error) {
	for n < len(p) && !t.ended {
		if n > 0 && t.r.src.Buffered() == 0 {
			return n, nil // return the available bytes instead of blocking
		}
		c, what, err := t.r.next(false)
		switch {
		case err == io.EOF && t.begun, err == nil && what == end, err == nil && what == blank && t.begun:
			t.ended = true
			continue
		case err == io.EOF:
			return n, io.ErrUnexpectedEOF
		case err != nil:
			return n, err
		case what == blank:
			continue
		case what == text:
			p[n] = c
			n++
		}
		t.begun = true
	}
	if n == 0 && t.ended {
		return 0, io.EOF
	}
	return n, nil
}
