package rfc822

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io"

	"github.com/anyurl/fetch/fetch"
)

// A base64Body decodes base64 (RFC 2045 6.8). It skips the text that mailing
// lists append to the data, and bytes in the data that are not base64.
type base64Body struct {
	in    *lines
	note  func(format string, args ...any)
	kept  []byte // characters that are not decoded yet
	begun bool
	blank bool // the line before was empty
	ended bool // by padding or by text
	noted [2]bool
	out   []byte
}

func (b *base64Body) next() ([]byte, error) {
	text, _, err := b.in.next()
	if err == io.EOF && len(b.kept) > 0 {
		return nil, fetch.Truncated.Errorf("base64 ends within four characters: %w", io.ErrUnexpectedEOF)
	}
	if err != nil {
		return nil, err
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		b.blank = b.blank || b.in.begin
		return nil, nil
	}
	if b.in.begin && b.begun && len(b.kept) == 0 {
		b.ended = b.ended || isFooter(text, b.blank)
	}
	b.blank, b.begun = false, true
	if !b.ended && len(b.kept) == 0 && len(text)%4 == 0 { // nearly every line
		if b.out, err = base64.StdEncoding.AppendDecode(b.out[:0], text); err == nil {
			b.ended = text[len(text)-1] == '='
			return b.out, nil
		}
	}
	for _, c := range text {
		b.add(c)
	}
	whole := len(b.kept) / 4 * 4
	b.out, err = base64.StdEncoding.AppendDecode(b.out[:0], b.kept[:whole])
	b.kept = b.kept[:copy(b.kept, b.kept[whole:])]
	return b.out, fetch.Protocol.With(err)
}

// add appends c to the characters to decode.
func (b *base64Body) add(c byte) {
	switch n := len(b.kept) % 4; {
	case b.ended:
		b.skip(0, c, "text after the end of the base64 data is left out")
	case isBase64(c):
		b.kept = append(b.kept, c)
	case c == '=' && n >= 2:
		b.kept = append(b.kept, c)
		b.ended = n == 3
	case c == '=' && n == 0:
		b.ended = true // padding that was not needed
	default:
		b.skip(1, c, "base64 data holds other bytes, which are left out")
	}
}

// skip calls note for the first byte of its kind that is not a blank.
func (b *base64Body) skip(kind int, c byte, text string) {
	if c > ' ' && !b.noted[kind] {
		b.noted[kind] = true
		b.note("%s", text)
	}
}

func isBase64(c byte) bool {
	return 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '+' || c == '/'
}

// isFooter reports whether a line is the beginning of a text after base64 data:
// it has no base64 at all, or has other bytes and follows an empty line.
func isFooter(text []byte, blank bool) bool {
	none, other := true, false
	for _, c := range text {
		if isBase64(c) || c == '=' {
			none = false
		} else {
			other = true
		}
	}
	return none || blank && other
}

// A quotedPrintable decodes quoted-printable (RFC 2045 6.7). It keeps bytes that
// the encoding does not allow, and does not limit the length of a line.
type quotedPrintable struct {
	in   *lines
	held []byte // beginning of an escape that the next piece may complete
	out  []byte
}

func (q *quotedPrintable) next() ([]byte, error) {
	text, _, err := q.in.next()
	if err != nil {
		held := q.held
		q.held = nil
		return held, err
	}
	if len(q.held) > 0 {
		text, q.held = append(q.held, text...), nil
	}
	q.out = q.out[:0]
	end := q.in.end
	if ended := end != "" || q.in.err != nil; ended {
		text = bytes.TrimRight(text, " \t")
		if soft, ok := bytes.CutSuffix(text, []byte("=")); ok {
			text, end = soft, ""
		}
	} else if i := bytes.LastIndexByte(text, '='); i >= 0 && i > len(text)-3 {
		text, q.held = text[:i:i], bytes.Clone(text[i:])
	}
	for len(text) > 0 {
		var c [1]byte
		if text[0] == '=' && len(text) > 2 {
			if _, err := hex.Decode(c[:], text[1:3]); err == nil {
				q.out, text = append(q.out, c[0]), text[3:]
				continue
			}
		}
		n := bytes.IndexByte(text[1:], '=') + 1
		if n == 0 {
			n = len(text)
		}
		q.out, text = append(q.out, text[:n]...), text[n:]
	}
	return append(q.out, end...), nil
}
