// Package textform reads texts of protocols that declare neither a charset nor
// the length of lines.
package textform

import (
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/wire/line"
)

// IsControl reports whether r is an ASCII control character.
func IsControl(r rune) bool { return r < ' ' || r == 0x7f }

// HasControl reports whether s contains an ASCII control character, such as a
// line break that would end a command.
func HasControl(s string) bool { return strings.ContainsFunc(s, IsControl) }

// maxExcerpt is the maximum length of an excerpt in bytes, before it is escaped.
const maxExcerpt = 300

// Excerpt returns the start of a text of a server, for an error or a note. Control
// characters are escaped. A server must not be able to fill a terminal or a log
// with one reply.
func Excerpt(text string) string {
	if len(text) <= maxExcerpt {
		return tty.Escape(text)
	}
	n := maxExcerpt
	for n > maxExcerpt-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	return tty.Escape(text[:n]) + "…"
}

// UTF8 returns a text in UTF-8. A text that is not valid UTF-8 is converted from
// ISO 8859-1, which servers of old protocols use.
func UTF8[T string | []byte](text T) string {
	if isValid(text) {
		return string(text)
	}
	var b strings.Builder
	b.Grow(sizeInUTF8(text))
	for i := range len(text) {
		b.WriteRune(rune(text[i]))
	}
	return b.String()
}

// UTF8Bytes is like UTF8, for a large text. It returns b if b is valid UTF-8.
func UTF8Bytes(b []byte) []byte {
	if isValid(b) {
		return b
	}
	text := make([]byte, 0, sizeInUTF8(b))
	for _, c := range b {
		text = utf8.AppendRune(text, rune(c))
	}
	return text
}

func isValid[T string | []byte](text T) bool {
	if b, ok := any(text).([]byte); ok {
		return utf8.Valid(b)
	}
	return utf8.ValidString(string(text))
}

// sizeInUTF8 returns the length of a text in ISO 8859-1 after its conversion to
// UTF-8.
func sizeInUTF8[T string | []byte](text T) int {
	size := len(text)
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			size++
		}
	}
	return size
}

// Lines iterates over the lines of r. A line ends with LF, with CR LF or at the
// end of r. A line of more than limit bytes is an error. Each line is valid until
// the next iteration.
func Lines(r io.Reader, limit int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in := line.NewReader(r)
		for {
			text, _, err := in.ReadLine(limit)
			switch {
			case err == io.EOF:
				return
			case err == line.ErrTooLong:
				yield(nil, fetch.Protocol.Errorf("line longer than %d bytes", limit))
				return
			case err != nil && (err != io.ErrUnexpectedEOF || text == nil): // the last line may have no line end
				yield(nil, err)
				return
			}
			if !yield(text, nil) {
				return
			}
		}
	}
}

// CutPrefixFold is like [strings.CutPrefix], but ignores the case of letters.
func CutPrefixFold(s, prefix string) (after string, found bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}
