package wrap

import (
	"context"
	"io"
	"sync"

	"github.com/anyurl/fetch/fetch"
)

// Memory of one divided body, and the most that one of its pieces takes.
const (
	segmentMemory = 24 << 20
	maxPiece      = 4 << 20
)

// Segments brings a large object of http or https by n requests side by side,
// each for a piece of some megabytes, and gives its bytes in order: a server
// that limits each response, or a long way, is used n times as well. Inside it
// Retry resumes the piece alone that breaks off.
//
// An object is divided only where its server has a strong validator for it:
// every piece is asked for of that version alone, and one of another version
// is fetch.Mismatch. Requests with a condition or a Range of several ends, and
// those that are recorded (Trace.Sent, Trace.Received), pass as they are. Memory
// is at most 24 MiB a body. An n below 2 divides nothing.
func Segments(n int) fetch.Middleware {
	return func(next fetch.Driver) fetch.Driver {
		if n < 2 {
			return next
		}
		places := n + max(n/2, 2)
		return &segmenter{next: next, workers: n, maxQueue: places, size: min(maxPiece, segmentMemory/int64(places))}
	}
}

type segmenter struct {
	next              fetch.Driver
	workers, maxQueue int
	size              int64 // of a piece
}

func (s *segmenter) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	if !isDivisible(req) {
		return s.next.Do(ctx, req)
	}
	start := req.Range.First
	first := req.Clone()
	first.Range.End = start + s.size
	resp, err := s.next.Do(ctx, first)
	switch {
	case err != nil:
		return nil, err
	case resp.Fault != nil, resp.Unchanged, !resp.Location.IsZero(), resp.Size >= 0 && resp.Size <= first.Range.End:
		return resp, nil
	case resp.Size < 0, resp.Validator == "", resp.Offset != start, resp.Input != nil:
		resp.Body.Close()
		req.Trace.Notef("not divided: the server has no parts of it, or nothing that tells its versions apart")
		return s.next.Do(ctx, req)
	}
	resp.Body = s.newBody(ctx, req, resp)
	return resp, nil
}

// divisible reports whether req asks for an object from some byte to its end,
// and for nothing else.
func isDivisible(req *fetch.Request) bool {
	t := req.Trace
	return req.Op == fetch.Get && req.Scheme().Traits.Web &&
		req.Range.First >= 0 && req.Range.End == 0 && req.IfNot == "" && req.Since.IsZero() && req.Before.IsZero() &&
		req.Header.Get("Range") == "" && (t == nil || t.Sent == nil && t.Received == nil)
}

// divided is a Body of which workers fill the pieces.
type segmentedBody struct {
	*segmenter
	ctx     context.Context
	cancel  context.CancelFunc
	req     *fetch.Request // for a piece, without its Range
	working sync.WaitGroup

	mu      sync.Mutex
	changed sync.Cond
	queue   []*piece // of those that were begun, from the one that is being read
	free    [][]byte
	next    int64 // where the next piece begins
	end     int64
	stopped bool // by Close or an error: no piece is begun

	pos int   // in the first of the queue; Read's own
	err error // sticky; Read's own
}

// A piece is a part of the object. What stands in buf before n does not
// change.
type piece struct {
	fetch.Range
	body io.ReadCloser // nil: to be asked for
	buf  []byte
	n    int
	err  error
}

func (s *segmenter) newBody(ctx context.Context, req *fetch.Request, first *fetch.Response) *segmentedBody {
	d := &segmentedBody{segmenter: s, req: req.Clone(), next: first.Offset, end: first.Size}
	d.ctx, d.cancel = context.WithCancel(ctx)
	d.changed.L = &d.mu
	d.req.IfSame, d.req.ErrorBody = first.Validator, false
	d.req.Trace = serialTrace(req.Trace)
	p := d.startPiece()
	p.body = first.Body
	d.working.Go(func() { d.work(p) })
	for range s.workers - 1 {
		d.working.Go(func() { d.work(nil) })
	}
	return d
}

// oneAtATime is the Trace for pieces: their notes come one after the other,
// and how far each has come is nobody's matter.
func serialTrace(t *fetch.Trace) *fetch.Trace {
	if t == nil || t.Note == nil {
		return nil
	}
	var mu sync.Mutex
	return &fetch.Trace{Note: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		t.Note(text)
	}}
}

// work fills p and pieces after it, until all are begun.
func (d *segmentedBody) work(p *piece) {
	for {
		if p == nil {
			if p = d.claimPiece(); p == nil {
				return
			}
		}
		if err := d.readPiece(p); err != nil {
			d.mu.Lock()
			p.err, d.stopped = err, true
			d.changed.Broadcast()
			d.mu.Unlock()
			return
		}
		p = nil
	}
}

// take waits for a place and begins the next piece; nil: there is none.
func (d *segmentedBody) claimPiece() *piece {
	d.mu.Lock()
	defer d.mu.Unlock()
	for !d.stopped && d.next < d.end && len(d.queue) == d.maxQueue {
		d.changed.Wait()
	}
	if d.stopped || d.next >= d.end {
		return nil
	}
	return d.startPiece()
}

func (d *segmentedBody) startPiece() *piece {
	p := &piece{Range: fetch.Range{First: d.next, End: min(d.next+d.size, d.end)}}
	if k := len(d.free); k > 0 {
		p.buf, d.free = d.free[k-1], d.free[:k-1]
	} else {
		p.buf = make([]byte, d.size)
	}
	p.buf = p.buf[:p.End-p.First]
	d.next = p.End
	d.queue = append(d.queue, p)
	d.changed.Broadcast()
	return p
}

// fill reads all of p.
func (d *segmentedBody) readPiece(p *piece) error {
	if err := d.openPiece(p); err != nil {
		return err
	}
	defer p.body.Close()
	for n := 0; n < len(p.buf); {
		k, err := p.body.Read(p.buf[n:])
		n += k
		d.mu.Lock()
		p.n = n
		d.changed.Broadcast()
		d.mu.Unlock()
		switch {
		case err == io.EOF && n < len(p.buf):
			return fetch.Truncated.Errorf("piece ended %d bytes early: %w", len(p.buf)-n, io.ErrUnexpectedEOF)
		case err != nil && err != io.EOF:
			return err
		}
	}
	p.body.Read(make([]byte, 1)) // its end, so that its connection is used again
	return nil
}

// ask opens the body of p, unless that was done.
func (d *segmentedBody) openPiece(p *piece) error {
	if p.body != nil {
		return nil
	}
	req := d.req.Clone()
	req.Range = p.Range
	resp, err := d.segmenter.next.Do(d.ctx, req)
	if err != nil {
		return err
	}
	p.body = resp.Body
	switch {
	case resp.Fault != nil:
		err = resp.Fault
	case resp.Offset != p.First, resp.Unchanged, !resp.Location.IsZero(), resp.Size >= 0 && resp.Size != d.end,
		resp.Validator != "" && resp.Validator != d.req.IfSame:
		err = fetch.Mismatch.Errorf("the object changed while it was being brought")
	default:
		return nil
	}
	p.body.Close()
	return err
}

func (d *segmentedBody) Read(p []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	head, n, err := d.waitForData()
	if n == 0 {
		d.err = err
		return 0, err
	}
	n = copy(p, head.buf[d.pos:d.pos+n])
	if d.pos += n; d.pos == len(head.buf) {
		d.releasePiece(head)
	}
	return n, nil
}

// wait returns the piece to be read and how much of it is there: nothing at
// the end, or where an error comes first.
func (d *segmentedBody) waitForData() (head *piece, n int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		if len(d.queue) > 0 {
			head = d.queue[0]
			if n := head.n - d.pos; n > 0 {
				return head, n, nil
			}
			if head.err != nil {
				return nil, 0, head.err
			}
		} else if d.next >= d.end {
			return nil, 0, io.EOF
		}
		if d.ctx.Err() != nil {
			return nil, 0, context.Cause(d.ctx)
		}
		d.changed.Wait()
	}
}

// pass lets the next piece be read and gives the place of head away.
func (d *segmentedBody) releasePiece(head *piece) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pos, d.queue = 0, d.queue[1:]
	d.free = append(d.free, head.buf[:cap(head.buf)])
	d.changed.Broadcast()
}

// Close ends the requests that are under way.
func (d *segmentedBody) Close() error {
	d.cancel()
	d.mu.Lock()
	d.stopped = true
	d.changed.Broadcast()
	d.mu.Unlock()
	d.working.Wait()
	return nil
}
