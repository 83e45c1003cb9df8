package links

import (
	"bytes"
	"io"
	"strings"

	"golang.org/x/net/html"
)

// resume continues after a token that exceeds the size limit. raw is the start
// of a tag, or empty for another token. resume skips the end of the token and
// copies it to the output of w. done reports whether the document has ended.
func (w *walk) resume(t *tokens, raw []byte) (done bool, err error) {
	if err := t.Err(); err != html.ErrBufferExceeded {
		return true, discardEOF(err) // browsers ignore an incomplete tag at the end
	}
	t.in.unread(t.Buffered())
	inside := ""
	switch {
	case len(raw) > 0:
		err = w.resumeTag(t, raw)
		inside = t.text
	case t.last == html.TextToken && t.cdata():
		err = t.in.skip(w, string(t.tail[:]), "]]>", escapeCDATA)
	case t.last == html.TextToken:
		t.in.unread(t.pending)
		inside = t.text
	case t.last == html.CommentToken && string(t.head[:4]) == "<!--":
		err = t.in.skip(w, string(t.tail[:]), "-->", escapeMarkup)
	default:
		err = t.in.skip(w, "", ">", escapeMarkup)
	}
	t.pending, t.head = nil, [9]byte{}
	t.restart(inside)
	return err == io.EOF, discardEOF(err)
}

// resumeTag skips the end of a tag that is longer than the limit. raw is its
// start. Elements that can cause connections are left out.
func (w *walk) resumeTag(t *tokens, raw []byte) error {
	var s tagScanner
	s.end(raw)
	if raw[1] == '/' {
		raw = w.normalEndTag(t, raw)
		t.text = ""
		if err := w.write(raw); err != nil {
			return err
		}
		return t.in.skipTag(w, &s, false)
	}
	name := strings.ToLower(string(tagName(raw[1:])))
	t.startElement(name, false)
	written := w.normalTag(t, raw)
	isCopied := !isSerialized(name) && !isFrame(localName(name), "src") && !isFrame(localName(name), "data")
	if !isCopied {
		written = nil
		if t.text != "" { // the content must remain inside an element
			written = []byte("<" + name + ` type="text/plain">`)
		}
	}
	if err := w.write(written); err != nil {
		return err
	}
	return t.in.skipTag(w, &s, isCopied)
}

// visitTruncatedTag finds the links in the first bytes of a tag that exceeds the
// limit.
func (w *walk) visitTruncatedTag(raw []byte) {
	whole := bytes.Clone(raw)
	if quote := scanAttributes(raw, nil); quote != 0 {
		whole = append(whole, quote)
	}
	z := html.NewTokenizer(bytes.NewReader(append(whole, '>')))
	if z.Next() == html.StartTagToken {
		w.visitTag(z, nil, false)
	}
}

// A tagScanner finds the end of a tag that it reads in several pieces. It
// follows the HTML standard (13.2.5.8 and 13.2.5.32 to 13.2.5.40).
type tagScanner struct {
	state tagState
	quote byte
}

type tagState uint8

const (
	inElementName tagState = iota
	beforeAttribute
	inAttribute
	afterAttribute
	beforeValue
	inValue // without quotation marks
	inQuoted
)

// end reads the next piece of a tag. It returns the offset after the end of the
// tag, or -1 if the tag does not end in the piece.
func (s *tagScanner) end(piece []byte) int {
	for i, c := range piece {
		space := strings.IndexByte(whitespace, c) >= 0
		switch {
		case s.state == inQuoted:
			if c == s.quote {
				s.state = beforeAttribute
			}
		case c == '>':
			return i + 1
		case s.state == beforeValue && (c == '"' || c == '\''):
			s.state, s.quote = inQuoted, c
		case s.state == beforeValue && !space:
			s.state = inValue
		case s.state == beforeValue, s.state == inValue && !space:
		case c == '/', space && (s.state == inElementName || s.state == inValue):
			s.state = beforeAttribute
		case s.state == inElementName, s.state == beforeAttribute && space, s.state == afterAttribute && space:
		case space:
			s.state = afterAttribute
		case c == '=' && s.state != beforeAttribute:
			s.state = beforeValue
		default:
			s.state = inAttribute
		}
	}
	return -1
}

// skipTag reads up to the end of the tag that s scans. If isCopied is true, it
// copies the tag to the output of w.
func (p *pushback) skipTag(w *walk, s *tagScanner, isCopied bool) error {
	b := make([]byte, 32<<10)
	for {
		n, err := p.Read(b)
		end := s.end(b[:n])
		if end >= 0 {
			p.unread(b[end:n])
			n = end
		}
		if isCopied {
			if err := w.write(escapeMarkup(b[:n])); err != nil {
				return err
			}
		}
		if end >= 0 || err != nil {
			return err
		}
	}
}

// skip copies input to the output of w, up to and including mark, after the
// function normal has changed it. tail holds the last bytes before the input,
// which may contain the start of mark.
func (p *pushback) skip(w *walk, tail, mark string, normal func([]byte) []byte) error {
	b := make([]byte, 32<<10)
	seen := []byte(tail)
	for {
		n, err := p.Read(b)
		all := append(seen, b[:n]...)
		if i := bytes.Index(all, []byte(mark)); i >= 0 {
			end := i + len(mark) - len(seen)
			p.unread(b[end:n])
			return w.write(normal(b[:end]))
		}
		if err := w.write(normal(b[:n])); err != nil {
			return err
		}
		if err != nil {
			return err
		}
		seen = bytes.Clone(all[max(0, len(all)-len(mark)+1):])
	}
}
