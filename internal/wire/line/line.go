// Package line reads and writes the lines of text protocols such as FTP, NNTP
// and Gopher. It returns bytes exactly as the server sent them, uses bounded
// memory, and takes time linear in its input.
//
// Call NewReader once for each connection. Then call ReadLine, ReadStatus,
// ReadReply and Block in the order that the protocol requires. Each of them
// reads no further than the end of its result, so that pipelined replies can be
// read one after another. Append formats the lines to send.
//
// Errors are the Err variables of this package, io.EOF, io.ErrUnexpectedEOF, or
// errors of the underlying reader.
//
// See RFC 959 section 4.2 for replies, and RFC 3977 section 3.1 for lines and
// dot-terminated blocks.
package line

import (
	"bytes"
	"errors"
	"io"
)

var (
	// ErrTooLong reports a line longer than its limit.
	ErrTooLong = errors.New("line too long")
	// ErrTooManyLines reports a reply of more than MaxReplyLines lines.
	ErrTooManyLines = errors.New("too many lines in one reply")
	// ErrNotReply reports a line that does not start with a reply code.
	ErrNotReply = errors.New("not a reply")
	// ErrUnsafeByte reports that a command contains CR, LF or NUL.
	ErrUnsafeByte = errors.New("CR, LF or NUL in a command")
)

// An End is the line ending of a line.
type End uint8

const (
	None End = iota // no line ending, because the input ended
	LF              // a bare line feed, sent by some old servers
	CRLF            // the standard line ending
)

// String returns the name of e.
func (e End) String() string {
	switch e {
	case CRLF:
		return "CRLF"
	case LF:
		return "LF"
	}
	return "none"
}

const (
	bufferSize = 32 << 10
	idleReads  = 100 // maximum number of consecutive empty reads, as in bufio
)

// A Reader reads lines, replies and dot-terminated blocks. Its buffer has 32
// KiB and grows to at most four times the length of the longest line. A Reader
// is not safe for concurrent use.
type Reader struct {
	src        io.Reader
	buf        []byte
	start, end int   // buf[start:end] has been read but not returned
	err        error // error of src, returned once buf is empty
}

// NewReader returns a Reader that reads from src. The Reader may read more
// bytes than it returns. Buffered returns the number of these bytes.
func NewReader(src io.Reader) *Reader {
	return &Reader{src: src, buf: make([]byte, bufferSize)}
}

// Buffered returns the number of bytes that were read ahead. It must be zero
// after a STARTTLS reply, because bytes that arrived in plaintext must not be
// accepted as part of the TLS session.
func (r *Reader) Buffered() int { return r.end - r.start }

// Read reads raw bytes, first from the buffer and then from the source.
func (r *Reader) Read(p []byte) (int, error) {
	if r.Buffered() > 0 {
		n := copy(p, r.buf[r.start:r.end])
		r.start += n
		return n, nil
	}
	if r.err != nil {
		return 0, r.err
	}
	return r.src.Read(p)
}

// ReadLine reads a line of at most limit bytes, and returns its text and its
// line ending. The line ending is not part of text and does not count toward
// limit. A CR that is not followed by LF is part of the text. The text is valid
// until the next call of a method of r.
//
// If the input ends inside a line, ReadLine returns the partial line, None and
// io.ErrUnexpectedEOF. If there is no further byte, it returns io.EOF. If the
// line is too long, it returns ErrTooLong as soon as possible. The position of
// the Reader is then undefined, and the connection must be closed.
func (r *Reader) ReadLine(limit int) (text []byte, end End, err error) {
	for seen := 0; ; {
		w := r.buf[r.start:r.end]
		if i := bytes.IndexByte(w[seen:], '\n'); i >= 0 {
			text, end = splitEnd(w[:seen+i+1])
			r.start += seen + i + 1
			if len(text) > limit {
				return nil, end, ErrTooLong
			}
			return text, end, nil
		}
		if seen = len(w); exceeds(w, limit) {
			return nil, None, ErrTooLong
		}
		if err := r.fill(); err != nil {
			if err != io.EOF || seen == 0 {
				return nil, None, err
			}
			if seen > limit {
				return nil, None, ErrTooLong
			}
			r.start = r.end
			return w, None, io.ErrUnexpectedEOF
		}
	}
}

// splitEnd splits a line that ends in LF into its text and its line ending.
func splitEnd(line []byte) ([]byte, End) {
	n := len(line) - 1
	if n > 0 && line[n-1] == '\r' {
		return line[:n-1], CRLF
	}
	return line[:n], LF
}

// exceeds reports whether a line that starts with unfinished is longer than
// limit. One extra CR is allowed, because it may belong to the line ending.
func exceeds(unfinished []byte, limit int) bool {
	n := len(unfinished)
	return n > limit && (n > limit+1 || unfinished[n-1] != '\r')
}

// fill reads more bytes into the buffer. It moves buffered bytes only if half
// of the buffer has been returned or the buffer doubles. This keeps the total
// time linear even if each read returns one byte.
func (r *Reader) fill() error {
	if r.err != nil {
		return r.err
	}
	switch waiting := r.buf[r.start:r.end]; {
	case len(waiting) == 0 || r.start > len(r.buf)/2:
		r.start, r.end = 0, copy(r.buf, waiting)
	case r.end == len(r.buf):
		r.buf = make([]byte, 2*len(r.buf))
		r.start, r.end = 0, copy(r.buf, waiting)
	}
	for range idleReads {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		r.err = err
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}
