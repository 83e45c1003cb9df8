package http

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// Limits of a chunked body: of a line, of the trailer, and of what is not the
// object beyond 16 bytes a chunk and as much again as the object.
const (
	maxChunkLine = 4 << 10
	maxTrailer   = 64 << 10
	maxChunkWork = 16 << 10
)

// chunks is a chunked body: RFC 9112 7.1. It reads the trailer too.
type chunks struct {
	*reader
	left  int64 // of the chunk under way
	over  bool  // its data are read, its line end is due
	final bool  // the last chunk was read, the trailer is due
	text  []byte
	work  int64 // bytes that are not the object, less what is right
	err   error
}

func (c *chunks) Read(p []byte) (n int, err error) {
	for c.err == nil && n < len(p) {
		switch {
		case n > 0 && !c.ready():
			return n, nil
		case c.final:
			c.err = c.last()
		case c.left == 0:
			c.err = c.next()
		default:
			k, err := c.take(p[n:min(int64(len(p)), int64(n)+c.left)])
			n, c.left, c.over = n+k, c.left-int64(k), true
			c.err = cut(err)
		}
	}
	return n, c.err
}

// ready reports whether more can be read without waiting for the server: some
// bytes of a chunk, or both the line end of a chunk and the size of the next.
func (c *chunks) ready() bool {
	switch {
	case c.final:
		return false
	case c.left > 0:
		return c.conn.r.Buffered() > 0
	}
	buffered, _ := c.conn.r.Peek(c.conn.r.Buffered())
	if c.over {
		_, buffered, _ = bytes.Cut(buffered, []byte{'\n'})
	}
	return bytes.IndexByte(buffered, '\n') >= 0
}

// cut is err where the end of the connection is not that of the body.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// next reads what stands between two chunks, or behind the last one.
func (c *chunks) next() error {
	if c.over {
		c.over = false
		line, err := c.textLine()
		if err != nil {
			return err
		}
		if line != "" {
			return fetch.Protocol.Errorf("chunk longer than announced")
		}
	}
	line, err := c.textLine()
	if err != nil {
		return err
	}
	size, _, _ := strings.Cut(line, ";")
	n, err := strconv.ParseUint(strings.TrimRight(size, " \t"), 16, 63)
	if err != nil || len(size) > 16 {
		return fetch.Protocol.Errorf("malformed size of a chunk")
	}
	if c.work = max(c.work+int64(len(line))-16-2*int64(min(n, 1<<40)), 0); c.work > maxChunkWork {
		return fetch.Protocol.Errorf("chunks of little but extensions")
	}
	c.left, c.final = int64(n), n == 0
	return nil
}

// textLine is a line without its end.
func (c *chunks) textLine() (string, error) {
	var err error
	c.text, err = c.line(c.text[:0], maxChunkLine)
	if err == errLong {
		return "", fetch.Protocol.Errorf("line of a chunk larger than %d bytes", maxChunkLine)
	}
	if err != nil {
		return "", cut(err)
	}
	line := c.text[:len(c.text)-1]
	if n := len(line) - 1; n >= 0 && line[n] == '\r' {
		line = line[:n]
	} else {
		c.odd("line of a chunk that ends in a bare LF")
	}
	if bytes.IndexByte(line, '\r') >= 0 {
		return "", fetch.Protocol.Errorf("bare CR in the line of a chunk")
	}
	return string(line), nil
}

// last reads the trailer: io.EOF is its end.
func (c *chunks) last() error {
	var text []byte
	for lines := 0; ; lines++ {
		start := len(text)
		var err error
		text, err = c.line(text, maxTrailer)
		if err == errLong || lines > maxFields {
			return fetch.TooLarge.Errorf("trailer larger than %d bytes or %d fields", maxTrailer, maxFields)
		}
		if err != nil {
			return cut(err)
		}
		line := text[start:]
		if len(line) < 2 || line[len(line)-2] != '\r' {
			c.odd("line of a trailer that ends in a bare LF")
		}
		if blank(line) {
			if c.trailer, err = c.fields(c.unfold(string(text)), lines); err != nil {
				return err
			}
			return io.EOF
		}
	}
}

// A raw is a chunked body as it came.
type raw struct {
	chunks  *chunks
	pending bytes.Buffer
	scratch [4 << 10]byte
}

func newRaw(c *chunks) *raw {
	r := &raw{chunks: c}
	heard := c.got
	c.got = func(p []byte) {
		r.pending.Write(p)
		if heard != nil {
			heard(p)
		}
	}
	return r
}

func (r *raw) Read(p []byte) (int, error) {
	for r.pending.Len() == 0 {
		if _, err := r.chunks.Read(r.scratch[:]); err != nil && r.pending.Len() == 0 {
			return 0, err
		}
	}
	return r.pending.Read(p)
}
