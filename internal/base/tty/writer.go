package tty

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// A Writer escapes text of several lines for display. It keeps newlines and
// tabs, converts CR LF to a newline, and escapes all other characters that
// [Escape] escapes. The output does not depend on the sizes of the writes. A
// Writer uses a few KiB of memory and is not safe for concurrent use.
type Writer struct {
	w   io.Writer
	in  []byte // at most chunk bytes; holds an incomplete character between writes
	out []byte
	err error
}

const (
	chunk        = 4 << 10
	lineControls = "\n\t" // control characters that are not escaped
)

// NewWriter returns a Writer that writes to w. Call Flush after the last Write.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: w, in: make([]byte, 0, chunk)}
}

// Write writes p in escaped form. Up to three bytes of an incomplete character
// are kept until the next Write. After an error, Write always returns that
// error.
func (w *Writer) Write(p []byte) (n int, err error) {
	for len(p) > 0 && w.err == nil {
		k := min(len(p), chunk-len(w.in))
		w.in = append(w.in, p[:k]...)
		p = p[k:]
		if w.writeEscaped(completeLen(w.in)); w.err == nil {
			n += k
		}
	}
	return n, w.err
}

// Flush writes an incomplete character at the end of the text.
func (w *Writer) Flush() error {
	w.writeEscaped(len(w.in))
	return w.err
}

// writeEscaped writes the first n bytes of w.in and removes them from w.in.
func (w *Writer) writeEscaped(n int) {
	if n == 0 || w.err != nil {
		return
	}
	w.out = w.out[:0]
	for text := w.in[:n]; len(text) > 0; {
		line, rest, found := bytes.Cut(text, []byte("\r\n"))
		w.out = appendEscaped(w.out, line, lineControls)
		if found {
			w.out = append(w.out, '\n')
		}
		text = rest
	}
	if _, w.err = w.w.Write(w.out); w.err == nil {
		w.in = w.in[:copy(w.in, w.in[n:])]
	}
}

// completeLen returns the length of b without an incomplete rune at the end. It
// also excludes a CR at the end, because LF may follow it.
func completeLen(b []byte) int {
	for i := len(b) - 1; i >= 0 && i > len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if b[i] == '\r' && i == len(b)-1 || !utf8.FullRune(b[i:]) {
				return i
			}
			break
		}
	}
	return len(b)
}
