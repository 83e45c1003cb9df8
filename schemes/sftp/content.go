package sftp

import (
	"io"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// A content reads a range of a file. It requests several blocks in advance, so
// that the server sends data without a pause.
type content struct {
	session *session
	handle  string
	next    int64 // offset of the first byte that has not been requested
	end     int64 // end of the range, or -1 for the end of the file

	queue  []block           // requested blocks in the order of the file
	flight int64             // requested bytes that have not been read
	early  map[uint32]packet // replies that arrived before the reply for queue[0]
	left   uint32            // bytes of queue[0] that must still be read from session.r
	got    uint32            // bytes of queue[0] that were received
	cur    []byte            // bytes of queue[0] that were received early
	err    error
}

// A block is a requested part of a file.
type block struct {
	id     uint32
	offset int64
	length uint32
}

// maxFlight is the maximum number of requested bytes that have not arrived. It
// also limits the memory for blocks that arrive out of order.
const maxFlight = 2 << 20

// patience is the time for which a Read collects data before it returns. On a
// fast network, fewer reads and writes of the caller are necessary. On a slow
// network, data is returned as it arrives.
const patience = 2 * time.Millisecond

func newContent(s *session, handle string, first, end int64) *content {
	return &content{session: s, handle: handle, next: first, end: end, early: map[uint32]packet{}}
}

// Read reads bytes of the file. It returns io.EOF after the last byte of the
// range, or after the status that reports the end of a file of unknown size.
func (c *content) Read(p []byte) (n int, err error) {
	defer c.session.channel.start()()
	begin := time.Now()
	for c.err == nil && n < len(p) && (n == 0 || time.Since(begin) < patience) {
		more := 0
		switch {
		case len(c.cur) > 0:
			more = copy(p[n:], c.cur)
			c.cur = c.cur[more:]
			c.received(more)
		case c.left > 0:
			more, c.err = c.session.r.Read(p[n:min(len(p), n+int(c.left))])
			c.left -= uint32(more)
			c.received(more)
		default:
			c.err = c.advance()
		}
		n += more
	}
	if n > 0 {
		return n, nil
	}
	return 0, c.err
}

// begin requests the first block and waits for the start of its reply. It
// returns io.EOF for an empty file.
func (c *content) begin() error {
	defer c.session.channel.start()()
	return c.advance()
}

// received counts bytes of the first block. At the end of the server's reply,
// it removes the block. If the reply was too short, it requests the missing end
// of the block again.
func (c *content) received(n int) {
	c.got += uint32(n)
	c.flight -= int64(n)
	if c.left > 0 || len(c.cur) > 0 || c.err != nil {
		return
	}
	b := &c.queue[0]
	if c.got < b.length {
		b.offset, b.length, c.got = b.offset+int64(c.got), b.length-c.got, 0
		c.session.maxRead = max(min(c.session.maxRead, uint32(n)), 512)
		c.err = c.request(b)
		return
	}
	c.queue, c.got = c.queue[1:], 0
}

// advance requests further blocks and waits for the reply for the first one. At
// the end of the range, it closes the file and returns io.EOF.
func (c *content) advance() error {
	if err := c.fill(); err != nil {
		return err
	}
	if len(c.queue) == 0 {
		return c.finish()
	}
	first := c.queue[0]
	if p, ok := c.early[first.id]; ok {
		delete(c.early, first.id)
		if p.kind != data {
			return c.refused(p)
		}
		c.cur = p.take(p.u32())
		if len(c.cur) == 0 || len(c.cur) > int(first.length) {
			return errLength
		}
		return p.err
	}
	p, left, err := readHeader(c.session.r)
	if err != nil {
		return err
	}
	c.session.MarkAnswered()
	if p.id != first.id || p.kind != data {
		p.rest = make([]byte, left)
		if _, err := io.ReadFull(c.session.r, p.rest); err != nil {
			return err
		}
		if p.id == first.id {
			return c.refused(p)
		}
		return c.keep(p)
	}
	p.rest = make([]byte, 4)
	if left < 4 {
		return errLength
	}
	if _, err := io.ReadFull(c.session.r, p.rest); err != nil {
		return err
	}
	if c.left = p.u32(); c.left == 0 || c.left != left-4 || c.left > first.length {
		c.left = 0
		return errLength
	}
	return nil
}

var errLength = fetch.Protocol.Errorf("sftp data of a wrong length")

// keep stores a reply that arrived before its turn.
func (c *content) keep(p packet) error {
	for _, b := range c.queue {
		if b.id == p.id {
			if _, twice := c.early[p.id]; twice || len(p.rest) > int(b.length)+maxMessage {
				return errLength
			}
			c.early[p.id] = p
			return nil
		}
	}
	return fetch.Protocol.Errorf("sftp reply to another request")
}

// refused handles a reply that contains no data, such as a status.
func (c *content) refused(p packet) error {
	again := p
	if p.kind == status && again.u32() == statusEOF {
		if c.end < 0 {
			return c.finish()
		}
		return fetch.Truncated.Errorf("file ends %d bytes before its announced end", c.end-c.queue[0].offset)
	}
	if err := p.expect(data); err != nil {
		return err
	}
	return errLength
}

// finish closes the file.
func (c *content) finish() error {
	if err := c.session.close(c.handle); err != nil {
		return err
	}
	return io.EOF
}

// fill requests blocks until maxFlight bytes are requested. For a file of
// unknown size, it requests one block at a time.
func (c *content) fill() error {
	for len(c.queue) == 0 || c.end >= 0 && c.flight < maxFlight {
		n := int64(c.session.maxRead)
		if c.end >= 0 {
			if n = min(n, c.end-c.next); n <= 0 {
				return nil
			}
		}
		c.queue = append(c.queue, block{offset: c.next, length: uint32(n)})
		c.next += n
		c.flight += n
		if err := c.request(&c.queue[len(c.queue)-1]); err != nil {
			return err
		}
	}
	return nil
}

// request sends the request for a block.
func (c *content) request(b *block) error {
	s := c.session
	s.lastID++
	b.id = s.lastID
	r := newRequest(read, b.id).str(c.handle).u64(uint64(b.offset)).u32(b.length)
	_, err := s.channel.Write(r.bytes())
	return err
}
