// Package line reads and writes the lines of text protocols: FTP, NNTP,
// Gopher and their kin. It keeps every byte as the server sent it, works in
// memory that a hostile server cannot make grow, and takes time linear in
// what it reads.
//
// Call NewReader once for a connection and keep it as long as the
// connection; then ReadLine, ReadStatus, ReadReply and Block as the protocol
// asks, in any order: each leaves the Reader right behind what it read, so
// that pipelined answers follow one another. Append makes the lines to send.
//
// Errors are the sentinels below, io.EOF, io.ErrUnexpectedEOF or those of
// the source; the caller knows the protocol and classes them.
//
// RFC 959 section 4.2 (replies), RFC 3977 section 3.1 (lines, dot blocks).
package line

import (
	"bytes"
	"errors"
	"io"
)

var (
	// ErrTooLong says that a line exceeds the limit given for it.
	ErrTooLong = errors.New("line too long")
	// ErrTooMany says that a reply has more than MaxReplyLines lines.
	ErrTooManyLines = errors.New("too many lines in one reply")
	// ErrReply says that a line is no reply: it begins with no code.
	ErrNotReply = errors.New("not a reply")
	// ErrUnsafe says that a word to be sent holds CR, LF or NUL.
	ErrUnsafeByte = errors.New("CR, LF or NUL in a command")
)

// An End tells how a line ended.
type End uint8

const (
	None End = iota // the input ended first
	LF              // a bare line feed, as some old servers send
	CRLF            // as the protocols have it
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
	idleReads  = 100 // empty reads of a source before it counts as broken, as in bufio
)

// A Reader reads lines, replies and dot blocks from a source. It holds one
// buffer of 32 KiB, or up to four times the longest line that it met if that
// is more. It is not safe for concurrent use.
type Reader struct {
	src        io.Reader
	buf        []byte
	start, end int   // buf[start:end] is read but not yet given out
	err        error // of src, once buf is empty
}

// NewReader returns a Reader of src, which the Reader may read ahead of what
// it gives out; Buffered tells how far.
func NewReader(src io.Reader) *Reader {
	return &Reader{src: src, buf: make([]byte, bufferSize)}
}

// Buffered returns the number of bytes that were read ahead. After STARTTLS
// and its like it must be zero: bytes sent in clear text before the
// handshake are not to be believed after it.
func (r *Reader) Buffered() int { return r.end - r.start }

// Read reads raw bytes: first those read ahead, then from the source.
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

// ReadLine reads one line of at most limit bytes and tells how it ended. The
// end does not count and is not in text; a lone CR is part of the text. The
// text stays valid until the next call.
//
// A line cut by the end of the input is returned with None and
// io.ErrUnexpectedEOF, so that nobody takes half an answer for a whole one
// by accident; io.EOF means that there was no further byte. A longer line is
// ErrTooLong as soon as its length is known: the Reader stands at an
// unspecified place in it and the connection is of no more use.
func (r *Reader) ReadLine(limit int) (text []byte, end End, err error) {
	for seen := 0; ; {
		w := r.buf[r.start:r.end]
		if i := bytes.IndexByte(w[seen:], '\n'); i >= 0 {
			text, end = cut(w[:seen+i+1])
			r.start += seen + i + 1
			if len(text) > limit {
				return nil, end, ErrTooLong
			}
			return text, end, nil
		}
		if seen = len(w); over(w, limit) {
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

// cut parts a line that ends in LF from its end.
func cut(line []byte) ([]byte, End) {
	n := len(line) - 1
	if n > 0 && line[n-1] == '\r' {
		return line[:n-1], CRLF
	}
	return line[:n], LF
}

// over reports whether unfinished, the beginning of a line, is too long
// whatever follows. One CR too many may be the first half of its end.
func over(unfinished []byte, limit int) bool {
	n := len(unfinished)
	return n > limit && (n > limit+1 || unfinished[n-1] != '\r')
}

// fill reads more bytes behind those in the buffer. Bytes are moved only when
// half a buffer was given out or when it doubles, which keeps the whole
// linear even for a source that gives single bytes.
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
