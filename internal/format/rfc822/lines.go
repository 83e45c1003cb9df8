package rfc822

import (
	"bufio"
	"bytes"
	"io"
)

// bufferSize is the size of the read buffer in bytes. A longer line is read in
// pieces. MIME boundaries and the first and last lines of encoded files must
// fit in the buffer.
const bufferSize = 16 << 10

// The type lines reads text line by line. It returns a line longer than the
// buffer in several pieces.
type lines struct {
	r       *bufio.Reader
	atStart bool   // if true, the last piece started a line
	lineEnd string // line ending after the last piece, or "" within a line and at the end of the text
	started bool   // if true, next has been called
	err     error
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, bufferSize)} }

// next returns the next line without its line ending. If the line is longer
// than the buffer, next returns a piece of the line and complete is false. The
// slice is valid until the next call. The last line need not have a line
// ending.
func (l *lines) next() (text []byte, complete bool, err error) {
	if l.err != nil {
		return nil, false, l.err
	}
	l.atStart = l.lineEnd != "" || !l.started
	l.started, l.lineEnd = true, ""
	switch text, err = l.r.ReadSlice('\n'); {
	case err == nil:
		text, l.lineEnd = text[:len(text)-1], "\n"
		if bare, ok := bytes.CutSuffix(text, []byte("\r")); ok {
			text, l.lineEnd = bare, "\r\n"
		}
		return text, l.atStart, nil
	case err == bufio.ErrBufferFull:
		if n := len(text) - 1; text[n] == '\r' {
			return text[:n], false, l.r.UnreadByte()
		}
		return text, false, nil
	}
	if l.err = err; len(text) == 0 {
		return nil, false, err
	}
	return text, l.atStart, nil
}

// A pieceReader is an io.Reader for the concatenated slices that the function
// next returns.
type pieceReader struct {
	next   func() ([]byte, error)
	unread []byte
	err    error
}

func (c *pieceReader) Read(p []byte) (int, error) {
	for len(c.unread) == 0 && c.err == nil && len(p) > 0 {
		c.unread, c.err = c.next()
	}
	if len(c.unread) == 0 && len(p) > 0 {
		return 0, c.err
	}
	n := copy(p, c.unread)
	c.unread = c.unread[n:]
	return n, nil
}
