package nntp

import (
	"io"
	"slices"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A pipeline sends a command for each article of a range and concatenates the
// converted responses. At most maxPending commands are waiting for a response.
// These commands always fit into the send buffer of a socket, so a write never
// blocks while the server waits until the client reads.
type pipeline struct {
	s             *session
	verb          string
	source        *numberSource
	appendArticle func(dst []byte, n uint64, id string, block *line.Block) ([]byte, error)

	pending []uint64 // article numbers of the commands without a response, in order
	buf     []byte   // underlying array of unread
	unread  []byte   // converted bytes that Read has not returned
	err     error
	last    Mark // the last retrieved article
}

const (
	maxPending = 64
	maxMissing = 100_000 // maximum number of consecutive numbers without an article
	minMissing = 32      // minimum of these numbers per second, after sessions.ReplyTimeout
)

// Read implements [io.Reader].
func (r *pipeline) Read(p []byte) (int, error) {
	return sessions.ReadPending(p, &r.unread, &r.err, r.fill)
}

// fill reads responses until an article is available. It limits the time of all
// responses together, because the driver calls it before it returns a response.
func (r *pipeline) fill() {
	start := time.Now()
	for missing := 0; r.err == nil && len(r.unread) == 0; missing++ {
		switch took := time.Since(start); {
		case missing == maxMissing:
			r.err = fetch.TooLarge.Errorf("no article with any of %d consecutive numbers", missing)
		case took > sessions.ReplyTimeout+time.Duration(missing/minMissing)*time.Second:
			r.err = fetch.Timeout.Errorf("stalled: no article in the last %v", took.Round(time.Second))
		default:
			r.err = r.readNext()
		}
	}
	if r.err != nil && len(r.pending) > 0 {
		r.s.Break()
	}
}

// readNext sends further commands if necessary and reads one response.
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
		return nil // the article has expired or never existed
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

// truncationFault changes the fault of err from Connect to Truncated. It is
// called for errors within a range of articles.
func truncationFault(err error) error {
	if fetch.FaultOf(err) == fetch.Connect {
		return fetch.Truncated.With(err)
	}
	return err
}

// sendCommands sends further commands once half of the pending commands have
// been answered.
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

// A timedReader limits the time of all reads together. It is used for data that
// the driver reads before it returns a response or an article. The limit is
// sessions.ReplyTimeout plus one second for each minSpeed bytes.
type timedReader struct {
	r     io.Reader
	s     *session
	start time.Time // zero if reads have no time limit
	count int       // bytes read
}

// minSpeed is the minimum speed of a timedReader in bytes per second.
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

// removeDeadline removes the time limit from all later reads.
func (p *timedReader) removeDeadline() {
	p.start = time.Time{}
	p.s.SetReplyTimeout(0)
}

// appendBlock reads block and appends its bytes to dst. It returns an error if
// the block is longer than limit bytes.
func (s *session) appendBlock(dst []byte, limit int, block io.Reader) ([]byte, error) {
	block = s.newTimedReader(block)
	for start := len(dst); ; {
		size := len(dst) - start
		if size > limit {
			return dst, fetch.TooLarge.Errorf("article in a batch is longer than %d bytes", limit)
		}
		dst = slices.Grow(dst, min(max(size, 4<<10), limit+1-size))
		n, err := block.Read(dst[len(dst):min(cap(dst), start+limit+1)])
		dst = dst[:len(dst)+n]
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return dst, sessions.BlockFault(err)
		}
	}
}
