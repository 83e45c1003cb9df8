package gopher

import (
	"bufio"
	"bytes"
	"io"
)

// peekLine returns the first line, with its end, of at most limit bytes: nil
// where it is longer or ends with the input, and at once where the first bytes
// do not pass hope. It is io.EOF where there is no byte at all.
func peekLine(r *bufio.Reader, limit int, hope func([]byte) bool) ([]byte, error) {
	for n := 1; ; n++ {
		w, err := r.Peek(n)
		if len(w) == 0 {
			return nil, err
		}
		if !hope(w) {
			return nil, nil
		}
		w, _ = r.Peek(r.Buffered())
		if i := bytes.IndexByte(w, '\n'); i >= 0 {
			if i >= limit {
				return nil, nil
			}
			return w[:i+1], nil
		}
		switch n = len(w); {
		case err == io.EOF, n >= limit:
			return nil, nil
		case err != nil:
			return nil, err
		}
	}
}
