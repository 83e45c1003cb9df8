// Package mailstore keeps messages in files: all in one file, an mbox, or each
// in its own, a Maildir. Articles of news are messages too.
//
// Call NewMbox and Append, or Maildir.Create and Deliver, to write; ReadMbox
// and Maildir.Messages to read. Messages are streams: none is held in memory,
// whatever its size and the length of its lines.
package mailstore

import (
	"bufio"
	"io"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/rfc822"
)

const bufferSize = 32 << 10 // also of what is read of a head

// fields are those of the head that r stands before, as far as the buffer
// holds it. Nothing is used up.
func peekHeader(r *bufio.Reader) fetch.Header {
	head, _ := r.Peek(bufferSize)
	return rfc822.ParseHeader(head)
}

// written returns the date of a message: its Date field, else received, else
// the date of its newest Received field, else the epoch. File names contain the
// date, so it must not depend on the current time.
func messageDate(h fetch.Header, received time.Time) time.Time {
	trace := h.Get("Received")
	for _, t := range []time.Time{rfc822.ParseDate(h.Get("Date")), received.UTC(), rfc822.ParseDate(trace[strings.LastIndexByte(trace, ';')+1:])} {
		if t.Year() >= 1970 && t.Year() <= 9999 {
			return t
		}
	}
	return time.Unix(0, 0).UTC()
}

// begins reports whether what is to be read begins with s.
func hasPrefix(r *bufio.Reader, s string) bool {
	next, _ := r.Peek(len(s))
	return string(next) == s
}

// part reads a line or the part of one that the buffer holds, its CR LF never
// apart. The text is valid until the next read. At the end of the input the
// error is io.EOF, perhaps with the text of a line that has no end.
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

// sticky repeats the error of a reader, which bufio forgets.
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

// closing returns the first of two errors.
func closeAfter(c io.Closer, err error) error {
	if closed := c.Close(); err == nil {
		return closed
	}
	return err
}
