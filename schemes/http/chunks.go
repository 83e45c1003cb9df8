package http

import (
	"bytes"
	"io"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/internal/wire/line"
)

// A chunked body is an HTTP/1 body with the transfer coding chunked. It decodes
// the chunks and reads the trailer.
type chunked struct {
	reader *reader
	chunks http1.Chunks
	err    error
}

// Read waits for at least one byte and returns the data that has already
// arrived.
func (c *chunked) Read(p []byte) (n int, err error) {
	for c.err == nil && n < len(p) && (n == 0 || c.reader.conn.r.Buffered() > 0) {
		var k int
		k, c.err = c.step(p[n:])
		n += k
	}
	return n, c.err
}

// step reads data of the current chunk into p. After the end of a chunk, step
// reads the lines before the next chunk and returns no data.
func (c *chunked) step(p []byte) (n int, err error) {
	if left := c.chunks.Left(); left > 0 {
		n, err = c.reader.receive(p[:min(int64(len(p)), left)])
		c.chunks.Next(p[:n])
		return n, line.UnexpectedEOF(err)
	}
	lines, err := c.reader.buffered()
	if err != nil {
		return 0, line.UnexpectedEOF(err)
	}
	n, _, err = c.chunks.Next(lines)
	c.reader.consume(lines[:n])
	if err != nil || !c.chunks.Done() {
		return 0, err
	}
	var trailer fetch.Header
	if trailer, err = http1.ParseTrailer[fetch.Field](&c.chunks); err != nil {
		return 0, err
	}
	c.reader.trailer = trailer
	return 0, io.EOF
}

// A rawChunks reads a chunked body without decoding it. It is used if
// Legacy.Raw is set.
type rawChunks struct {
	chunks  *chunked
	pending bytes.Buffer
	scratch [4 << 10]byte
}

func newRawChunks(c *chunked) *rawChunks {
	r := &rawChunks{chunks: c}
	got := c.reader.got
	c.reader.got = func(p []byte) {
		r.pending.Write(p)
		if got != nil {
			got(p)
		}
	}
	return r
}

func (r *rawChunks) Read(p []byte) (int, error) {
	for r.pending.Len() == 0 {
		if _, err := r.chunks.Read(r.scratch[:]); err != nil && r.pending.Len() == 0 {
			return 0, err
		}
	}
	return r.pending.Read(p)
}
