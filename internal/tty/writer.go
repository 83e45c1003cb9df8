package tty

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// A Writer shows a text of several lines: newlines and TABs are kept, CR LF is
// written as a newline alone, and all else that [Escape] escapes is escaped.
// What one character is does not depend on how the text is cut into Writes.
// It holds a few KiB, whatever is written, and is not safe for concurrent use.
type Writer struct {
	w   io.Writer
	in  []byte // at most chunk bytes; between Writes an unfinished character
	out []byte
	err error
}

const (
	chunk = 4 << 10
	lines = "\n\t" // the controls that a text keeps
)

// NewWriter returns a Writer to w. The caller flushes it after the last Write.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: w, in: make([]byte, 0, chunk)}
}

// Write shows p. Of a character that p does not complete, up to three bytes
// wait for the next Write. After an error every call returns that error.
func (w *Writer) Write(p []byte) (n int, err error) {
	for len(p) > 0 && w.err == nil {
		k := min(len(p), chunk-len(w.in))
		w.in = append(w.in, p[:k]...)
		p = p[k:]
		if w.show(whole(w.in)); w.err == nil {
			n += k
		}
	}
	return n, w.err
}

// Flush shows what waits for the rest of its character, as the text has ended.
func (w *Writer) Flush() error {
	w.show(len(w.in))
	return w.err
}

// show writes the first n bytes of w.in and drops them.
func (w *Writer) show(n int) {
	if n == 0 || w.err != nil {
		return
	}
	w.out = w.out[:0]
	for text := w.in[:n]; len(text) > 0; {
		line, rest, found := bytes.Cut(text, []byte("\r\n"))
		w.out = appendEscaped(w.out, line, lines)
		if found {
			w.out = append(w.out, '\n')
		}
		text = rest
	}
	if _, w.err = w.w.Write(w.out); w.err == nil {
		w.in = w.in[:copy(w.in, w.in[n:])]
	}
}

// whole returns the length of b without an unfinished rune, or a CR whose LF
// may follow, at its end.
func whole(b []byte) int {
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
