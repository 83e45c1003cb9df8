package rfc822

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io"

	"github.com/anyurl/fetch/fetch"
)

// A base64Decoder decodes a body in base64 (RFC 2045 6.8). It ignores invalid
// bytes. It also ignores a plain-text footer that a mailing list has appended.
type base64Decoder struct {
	in         *lines
	warn       func(format string, args ...any)
	pending    []byte // characters not yet decoded
	started    bool
	afterBlank bool // the previous line was empty
	ended      bool // if true, padding or a footer has ended the data
	warned     [2]bool
	out        []byte
}

func (b *base64Decoder) next() ([]byte, error) {
	text, _, err := b.in.next()
	if err == io.EOF && len(b.pending) > 0 {
		return nil, fetch.Truncated.Errorf("base64 data is truncated: %w", io.ErrUnexpectedEOF)
	}
	if err != nil {
		return nil, err
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		b.afterBlank = b.afterBlank || b.in.atStart
		return nil, nil
	}
	if b.in.atStart && b.started && len(b.pending) == 0 {
		b.ended = b.ended || isFooter(text, b.afterBlank)
	}
	b.afterBlank, b.started = false, true
	if !b.ended && len(b.pending) == 0 && len(text)%4 == 0 { // fast path for almost all lines
		if b.out, err = base64.StdEncoding.AppendDecode(b.out[:0], text); err == nil {
			b.ended = text[len(text)-1] == '='
			return b.out, nil
		}
	}
	for _, c := range text {
		b.add(c)
	}
	complete := len(b.pending) / 4 * 4
	b.out, err = base64.StdEncoding.AppendDecode(b.out[:0], b.pending[:complete])
	b.pending = b.pending[:copy(b.pending, b.pending[complete:])]
	return b.out, fetch.Protocol.With(err)
}

// add appends c to the characters that are not yet decoded. It ignores invalid
// characters and all characters after the padding.
func (b *base64Decoder) add(c byte) {
	switch n := len(b.pending) % 4; {
	case b.ended:
		b.warnOnce(0, c, "ignoring text after the base64 data")
	case isBase64(c):
		b.pending = append(b.pending, c)
	case c == '=' && n >= 2:
		b.pending = append(b.pending, c)
		b.ended = n == 3
	case c == '=' && n == 0:
		b.ended = true // superfluous padding
	default:
		b.warnOnce(1, c, "ignoring invalid bytes in the base64 data")
	}
}

// warnOnce passes a warning about the ignored character c to warn, once for
// each kind of problem. It gives no warning for white space.
func (b *base64Decoder) warnOnce(kind int, c byte, text string) {
	if c > ' ' && !b.warned[kind] {
		b.warned[kind] = true
		b.warn("%s", text)
	}
}

func isBase64(c byte) bool {
	return 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '+' || c == '/'
}

// isFooter reports whether a line starts the footer of a mailing list. Such a
// line contains no base64 characters, or it follows an empty line and contains
// at least one character outside base64.
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

// A quotedPrintableDecoder decodes a quoted-printable body (RFC 2045 6.7). It
// copies invalid bytes unchanged and accepts lines of any length.
type quotedPrintableDecoder struct {
	in      *lines
	pending []byte // incomplete escape sequence at the end of a piece
	out     []byte
}

func (q *quotedPrintableDecoder) next() ([]byte, error) {
	text, _, err := q.in.next()
	if err != nil {
		pending := q.pending
		q.pending = nil
		return pending, err
	}
	if len(q.pending) > 0 {
		text, q.pending = append(q.pending, text...), nil
	}
	q.out = q.out[:0]
	end := q.in.lineEnd
	if ended := end != "" || q.in.err != nil; ended {
		text = bytes.TrimRight(text, " \t")
		if soft, ok := bytes.CutSuffix(text, []byte("=")); ok {
			text, end = soft, ""
		}
	} else if i := bytes.LastIndexByte(text, '='); i >= 0 && i > len(text)-3 {
		text, q.pending = text[:i:i], bytes.Clone(text[i:])
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
