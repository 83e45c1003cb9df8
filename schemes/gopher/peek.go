package gopher

import (
	"bufio"
	"bytes"
	"io"
	"strings"
)

// peekLine returns the first line, with its end, of at most limit bytes: nil
// where it is longer or ends with the input, and at once where its first byte
// is not one of starts. It is io.EOF where there is no byte at all.
func peekLine(r *bufio.Reader, limit int, starts string) ([]byte, error) {
	for n := 1; ; n++ {
		w, err := r.Peek(n)
		if len(w) == 0 {
			return nil, err
		}
		if strings.IndexByte(starts, w[0]) < 0 {
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
