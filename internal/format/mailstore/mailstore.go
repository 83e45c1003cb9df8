// Package mailstore reads and writes mail and news messages in mbox files and
// Maildir directories. An mbox is a file with many messages. A Maildir is a
// directory with one file for each message.
//
// To write messages, use [NewMbox] and [Mbox.Append], or [Maildir.Create] and
// [Maildir.Deliver]. To read messages, use [ReadMbox] or [Maildir.Messages].
// Messages of any size are streamed and not loaded into memory.
package mailstore

import (
	"bufio"
	"io"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/rfc822"
)

const bufferSize = 32 << 10 // also the maximum length of a header

// peekHeader parses the next message header of r without consuming input. It
// parses only the part of the header that fits in the buffer.
func peekHeader(r *bufio.Reader) fetch.Header {
	head, _ := r.Peek(bufferSize)
	return rfc822.ParseHeader(head)
}

// messageDate returns the date of a message. It returns the first valid date of
// the Date field, the time received and the first Received field. If none is
// valid, it returns the Unix epoch and not the current time. Repeated
// deliveries therefore use the same file name.
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

// readPiece reads a line with its line ending. If the line is longer than the
// buffer, readPiece reads a piece of the line and ends is false. It never
// separates CR from LF.
//
// The text is valid until the next read. At the end of the input, readPiece
// returns io.EOF together with the last line if that line has no line ending.
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

// A stickyReader is an io.Reader that returns its first error again in all
// later calls. A bufio.Reader returns each error only once.
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

// closeAfter closes c. It returns err, or the error of Close if err is nil.
func closeAfter(c io.Closer, err error) error {
	if closed := c.Close(); err == nil {
		return closed
	}
	return err
}
