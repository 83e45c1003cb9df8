package gopher

import (
	"bufio"
	"bytes"
	"io"
	"strings"
)

// peekLine returns the first line of r, including its line end, without
// consuming the line. It returns nil if the first byte is not in starts, if the
// line has more than limit bytes, or if the input ends within the line. It
// returns io.EOF if the input is empty.
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
