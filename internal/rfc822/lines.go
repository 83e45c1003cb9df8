package rfc822

import (
	"bufio"
	"bytes"
	"io"
)

// bufferSize is the maximum length of a piece of a line. MIME boundaries and
// the lines that delimit an encoded file are shorter.
const bufferSize = 16 << 10

// lines reads a text line by line. It returns long lines in pieces.
type lines struct {
	r       *bufio.Reader
	atStart bool   // the last piece was the start of a line
	lineEnd string // line ending after the last piece, or "" within a line and at the end of the text
	started bool   // next was called before
	err     error
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, bufferSize)} }

// next returns the next line without its line ending, or a piece of a line
// longer than the buffer. The flag complete is false for each piece of such a
// line. The text is valid until the next call. A last line without a line
// ending is returned as a line.
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

// A pieceReader is an io.Reader over the pieces that nextPiece returns.
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
