// Package mailstore stores messages of mail and news in files. An mbox is a
// file with many messages. A Maildir is a directory with one file for each
// message.
//
// To write messages, use [NewMbox] and [Mbox.Append], or [Maildir.Create] and
// [Maildir.Deliver]. To read them, use [ReadMbox] or [Maildir.Messages]. The
// package streams messages of any size and line length, and does not load them
// into memory.
package mailstore

import (
	"bufio"
	"io"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/rfc822"
)

const bufferSize = 32 << 10 // also the maximum length of a header

// peekHeader parses the header at the current position of r, as far as it fits
// in the buffer. It does not consume input.
func peekHeader(r *bufio.Reader) fetch.Header {
	head, _ := r.Peek(bufferSize)
	return rfc822.ParseHeader(head)
}

// messageDate returns the date of a message. The candidates are the Date field,
// the time received, the first Received field and the Unix epoch, in this
// order. File names contain the date, so messageDate does not use the current
// time.
func messageDate(h fetch.Header, received time.Time) time.Time {
	trace := h.Get("Received")
	relayed := rfc822.ParseDate(trace[strings.LastIndexByte(trace, ';')+1:])
	for _, t := range []time.Time{rfc822.ParseDate(h.Get("Date")), received.UTC(), relayed} {
		if t.Year() >= 1970 && t.Year() <= 9999 {
			return t
		}
	}
	return time.Unix(0, 0).UTC()
}

// hasPrefix reports whether the unread input of r starts with s.
func hasPrefix(r *bufio.Reader, s string) bool {
	next, _ := r.Peek(len(s))
	return string(next) == s
}

// readPiece reads a line, or a piece of a line that is longer than the buffer.
// It does not split CR LF. The text is valid until the next read. At the end of
// the input it returns io.EOF, possibly with an incomplete last line.
func readPiece(r *bufio.Reader) (text []byte, ends bool, err error) {
	text, err = r.ReadSlice('\n')
	switch n := len(text); {
	case err == bufio.ErrBufferFull && text[n-1] == '\r':
		return text[:n-1], false, r.UnreadByte()
	case err == bufio.ErrBufferFull:
		return text, false, nil
	}
	return text, err == nil, err
}

// A stickyReader returns the first error again at later calls. A bufio.Reader
// forgets it.
type stickyReader struct {
	r   io.Reader
	err error
}

func (s *stickyReader) Read(p []byte) (n int, err error) {
	if s.err == nil {
		n, s.err = s.r.Read(p)
	}
	return n, s.err
}

// closeAfter closes c and returns err, or the error of Close if err is nil.
func closeAfter(c io.Closer, err error) error {
	if closed := c.Close(); err == nil {
		return closed
	}
	return err
}
