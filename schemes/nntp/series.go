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
type series struct {
	s      *session
	verb   string
	source *numbers
	each   func(dst []byte, n uint64, id string, block *line.Block) ([]byte, error)

	asked []uint64 // commands under way, the oldest first
	buf   []byte   // backs out
	out   []byte   // made and not yet given out
	err   error
	seen  Mark // the last article that was brought
}

const (
	window    = 64
	maxMisses = 100_000 // numbers in a row without an article
)

// Read implements io.Reader.
func (r *series) Read(p []byte) (int, error) {
	if len(r.out) == 0 {
		r.fill()
	}
	if len(r.out) == 0 {
		return 0, r.err
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// fill brings the next article.
func (r *series) fill() {
	for misses := 0; r.err == nil && len(r.out) == 0; misses++ {
		if misses == maxMisses {
			r.err = fetch.TooLarge.Errorf("no article under %d numbers in a row", misses)
			break
		}
		r.err = r.next()
	}
	if r.err != nil && len(r.asked) > 0 {
		r.s.Break()
	}
}

// next reads one answer.
func (r *series) next() error {
	if err := r.send(); err != nil {
		return err
	}
	if len(r.asked) == 0 {
		return io.EOF
	}
	n := r.asked[0]
	r.asked = r.asked[1:]
	reply, err := r.s.reply()
	if err != nil {
		return cut(err)
	}
	if reply.Code/100 == 4 && faultOf(reply.Code) == fetch.NotFound && reply.Code != 412 {
		return nil // expired, or never there
	}
	if err := r.s.answered(reply, r.verb, locator{kind: byNumber, first: n, last: n}); err != nil {
		return err
	}
	_, id := numberAndID(reply)
	r.buf, err = r.each(r.buf[:0], n, id, r.s.Lines.Block(0))
	if err != nil {
		r.s.Break()
		return err
	}
	r.out, r.seen = r.buf, Mark{n, id}
	return nil
}

// cut: a connection that ends between two articles of a series cuts it.
func cut(err error) error {
	if fetch.FaultOf(err) == fetch.Connect {
		return fetch.Truncated.With(err)
	}
	return err
}

// send keeps commands under way, half a window at a time.
func (r *series) send() error {
	limit := 1
	if r.s.caps.modern() {
		limit = window
	}
	if len(r.asked) > limit/2 {
		return nil
	}
	for len(r.asked) < limit {
		n, err := r.source.next(len(r.asked) == 0)
		if err == io.EOF || err == errNotNow {
			return nil
		}
		if err == nil {
			err = r.s.AddCommand(r.verb, formatNumber(n))
		}
		if err != nil {
			return err
		}
		r.asked = append(r.asked, n)
	}
	return nil
}

// A paced reader reads what is needed before anything is given out, which the
// Client therefore cannot watch: it may take sessions.ReplyTime, and longer only at some
// speed.
type paced struct {
	r     io.Reader
	s     *session
	start time.Time
	got   int
}

// slowest is that speed in bytes a second.
const slowest = 1 << 10

func (s *session) paced(r io.Reader) *paced { return &paced{r: r, s: s, start: time.Now()} }

func (p *paced) Read(b []byte) (int, error) {
	if !p.start.IsZero() {
		p.s.NetConn.SetReadDeadline(p.start.Add(sessions.ReplyTimeout + time.Duration(p.got/slowest)*time.Second))
	}
	n, err := p.r.Read(b)
	p.got += n
	return n, err
}

// release lets what is left take its time.
func (p *paced) release() {
	p.start = time.Time{}
	p.s.SetReplyTimeout(0)
}

// take appends a block of at most limit bytes to dst.
func (s *session) take(dst []byte, limit int, block io.Reader) ([]byte, error) {
	block = s.paced(block)
	for had := len(dst); ; {
		got := len(dst) - had
		if got > limit {
			return dst, fetch.TooLarge.Errorf("article of more than %d bytes in a batch", limit)
		}
		dst = slices.Grow(dst, min(max(got, 4<<10), limit+1-got))
		n, err := block.Read(dst[len(dst):min(cap(dst), had+limit+1)])
		dst = dst[:len(dst)+n]
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return dst, blockFault(err)
		}
	}
}
