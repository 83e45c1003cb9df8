package nntp

import (
	"io"
	"slices"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
	"github.com/anyurl/fetch/internal/sessions"
)

// A series sends one command for each of many articles and joins what their
// answers are made into. Up to window commands are under way: so few that
// they fit into any socket's buffer, and no writing waits for a server that
// itself waits for us to read.
type pipeline struct {
	s             *session
	verb          string
	source        *numberSource
	appendArticle func(dst []byte, n uint64, id string, block *line.Block) ([]byte, error)

	pending []uint64 // commands under way, the oldest first
	buf     []byte   // backs out
	unread  []byte   // made and not yet given out
	err     error
	last    Mark // the last article that was brought
}

const (
	maxPending = 64
	maxMissing = 100_000 // numbers in a row without an article
)

// Read implements io.Reader.
func (r *pipeline) Read(p []byte) (int, error) {
	if len(r.unread) == 0 {
		r.fill()
	}
	if len(r.unread) == 0 {
		return 0, r.err
	}
	n := copy(p, r.unread)
	r.unread = r.unread[n:]
	return n, nil
}

// fill brings the next article.
func (r *pipeline) fill() {
	for missing := 0; r.err == nil && len(r.unread) == 0; missing++ {
		if missing == maxMissing {
			r.err = fetch.TooLarge.Errorf("no article under %d numbers in a row", missing)
			break
		}
		r.err = r.readNext()
	}
	if r.err != nil && len(r.pending) > 0 {
		r.s.Break()
	}
}

// next reads one answer.
func (r *pipeline) readNext() error {
	if err := r.sendCommands(); err != nil {
		return err
	}
	if len(r.pending) == 0 {
		return io.EOF
	}
	n := r.pending[0]
	r.pending = r.pending[1:]
	reply, err := r.s.readReply()
	if err != nil {
		return truncationFault(err)
	}
	if reply.Code/100 == 4 && faultOf(reply.Code) == fetch.NotFound && reply.Code != 412 {
		return nil // expired, or never there
	}
	if err := r.s.checkReply(reply, r.verb, locator{kind: kindNumber, first: n, last: n}); err != nil {
		return err
	}
	_, id := numberAndID(reply)
	r.buf, err = r.appendArticle(r.buf[:0], n, id, r.s.Lines.Block(0))
	if err != nil {
		r.s.Break()
		return err
	}
	r.unread, r.last = r.buf, Mark{n, id}
	return nil
}

// cut: a connection that ends between two articles of a series cuts it.
func truncationFault(err error) error {
	if fetch.FaultOf(err) == fetch.Connect {
		return fetch.Truncated.With(err)
	}
	return err
}

// send keeps commands under way, half a window at a time.
func (r *pipeline) sendCommands() error {
	limit := 1
	if r.s.caps.supportsRFC3977() {
		limit = maxPending
	}
	if len(r.pending) > limit/2 {
		return nil
	}
	for len(r.pending) < limit {
		n, err := r.source.next(len(r.pending) == 0)
		if err == io.EOF || err == errBusy {
			return nil
		}
		if err == nil {
			err = r.s.AddCommand(r.verb, formatNumber(n))
		}
		if err != nil {
			return err
		}
		r.pending = append(r.pending, n)
	}
	return nil
}

// A paced reader reads what is needed before anything is given out, which the
// Client therefore cannot watch: it may take sessions.ReplyTime, and longer only at some
// speed.
type timedReader struct {
	r     io.Reader
	s     *session
	start time.Time
	count int
}

// slowest is that speed in bytes a second.
const minSpeed = 1 << 10

func (s *session) newTimedReader(r io.Reader) *timedReader {
	return &timedReader{r: r, s: s, start: time.Now()}
}

func (p *timedReader) Read(b []byte) (int, error) {
	if !p.start.IsZero() {
		p.s.NetConn.SetReadDeadline(p.start.Add(sessions.ReplyTimeout + time.Duration(p.count/minSpeed)*time.Second))
	}
	n, err := p.r.Read(b)
	p.count += n
	return n, err
}

// release lets what is left take its time.
func (p *timedReader) removeDeadline() {
	p.start = time.Time{}
	p.s.SetReplyTimeout(0)
}

// take appends a block of at most limit bytes to dst.
func (s *session) appendBlock(dst []byte, limit int, block io.Reader) ([]byte, error) {
	block = s.newTimedReader(block)
	for start := len(dst); ; {
		size := len(dst) - start
		if size > limit {
			return dst, fetch.TooLarge.Errorf("article of more than %d bytes in a batch", limit)
		}
		dst = slices.Grow(dst, min(max(size, 4<<10), limit+1-size))
		n, err := block.Read(dst[len(dst):min(cap(dst), start+limit+1)])
		dst = dst[:len(dst)+n]
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return dst, blockFault(err)
		}
	}
}
