package wrap

import (
	"context"
	"io"
	"net/http"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
)

// segmentMemory limits the memory for one body, and maxPiece the size of a
// segment, in bytes.
const (
	segmentMemory = 24 << 20
	maxPiece      = 4 << 20
)

// Segments returns a middleware that downloads large http, ftp and sftp objects
// with n concurrent requests for segments of some megabytes. The caller reads
// the bytes in order. Segments are faster if the server limits the rate of each
// response, or if the round-trip time is long. If Retry is an inner middleware,
// it resumes only the interrupted segment.
//
// The Response is the response to the undivided request: the Client with and
// without Segments returns the same Code, Head and Header. The server must
// supply a strong validator for the object. If a later response has another
// validator, Read returns fetch.Mismatch. If the server ignores the range of the
// first request, the response contains the complete object. Requests with a
// condition, with a last byte, or with Sent or Received in their Trace are not
// divided. One body uses at most 24 MiB of memory. If n is less than 2, no
// request is divided.
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
	size              int64 // size of a piece in bytes
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
	case req.Range.IsZero() && resp.Code == http.StatusRequestedRangeNotSatisfiable: // the object is empty
		resp.Body.Close()
		return s.next.Do(ctx, req)
	case resp.Fault != nil, resp.Unchanged, !resp.Location.IsZero(), resp.Input != nil, !isWeb(req) && resp.Kind != fetch.Document:
		return resp, nil
	case ignoresRange(resp) && resp.Header.Get("Content-Encoding") == "": // the driver decodes only complete objects
		req.Trace.Notef("not downloaded in segments: the server supports no ranges")
		resp.Size = completeSize(resp.Header)
		return resp, nil
	case resp.Size >= 0 && resp.Size <= first.Range.End:
		setCompleteHead(req, resp)
		return resp, nil
	case resp.Size < 0, resp.Validator == "", resp.Offset != start:
		resp.Body.Close()
		req.Trace.Notef("not downloaded in segments: the server supports no ranges, or supplies no validator")
		return s.next.Do(ctx, req)
	}
	resp.Body = s.newBody(ctx, req, resp)
	setCompleteHead(req, resp)
	resp.Trailer = nil // describes only the first segment
	return resp, nil
}

// isDivisible reports whether a request may be divided into segments. It must
// be an unconditional request for all bytes of an object, or for all bytes from
// some offset on.
func isDivisible(req *fetch.Request) bool {
	t := req.Trace
	traits := req.Scheme().Traits
	return req.Op == fetch.Get && req.Outgoing == nil && (traits.Web || traits.ControlConn && traits.ReportsSize) &&
		req.Range.First >= 0 && req.Range.End == 0 && req.IfNot == "" && req.Since.IsZero() && req.Before.IsZero() &&
		req.Header.Get("Range") == "" && (t == nil || t.Sent == nil && t.Received == nil)
}

// isWeb reports whether the scheme of a request is http or https.
func isWeb(req *fetch.Request) bool { return req.Scheme().Traits.Web }

// A segmentedBody is a response body whose segments are downloaded
// concurrently.
type segmentedBody struct {
	*segmenter
	ctx     context.Context
	cancel  context.CancelFunc
	req     *fetch.Request // template for the request of a segment; its Range is set later
	working sync.WaitGroup

	mu      sync.Mutex
	changed sync.Cond
	queue   []*piece // started segments; the first one is being read by the caller
	free    [][]byte
	next    int64 // offset of the next segment
	end     int64
	stopped bool // true after Close or an error; no further segment is started

	pos int   // position in the first segment of queue; used only by Read
	err error // error that ended reading; used only by Read
}

// A piece is a segment of the object. The first n bytes of buf are complete and
// do not change.
type piece struct {
	fetch.Range
	body io.ReadCloser // nil before the request; guarded by segmentedBody.mu
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

// serialTrace returns a Trace for concurrent requests. It forwards to t only
// notes, steps of connections and heads, one at a time.
func serialTrace(t *trace.Trace) *trace.Trace {
	if t == nil {
		return nil
	}
	var mu sync.Mutex
	serial := func(f func(string)) func(string) {
		if f == nil {
			return nil
		}
		return func(text string) {
			mu.Lock()
			defer mu.Unlock()
			f(text)
		}
	}
	return &trace.Trace{Note: serial(t.Note), Connection: serial(t.Connection), RequestHead: serial(t.RequestHead),
		ResponseHead: serial(t.ResponseHead)}
}

// work downloads the segment p, if not nil, and then further segments until no
// segment remains.
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

// claimPiece waits for space in the queue and returns the next segment to
// download. It returns nil if there is no further segment.
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

// readPiece reads all bytes of a segment into its buffer.
func (d *segmentedBody) readPiece(p *piece) error {
	body, err := d.openPiece(p)
	if err != nil {
		return err
	}
	defer body.Close()
	for n := 0; n < len(p.buf); {
		k, err := body.Read(p.buf[n:])
		n += k
		d.mu.Lock()
		p.n = n
		d.changed.Broadcast()
		d.mu.Unlock()
		switch {
		case err == io.EOF && n < len(p.buf):
			return fetch.Truncated.Errorf("segment ended after %d of %d bytes: %w", n, len(p.buf), io.ErrUnexpectedEOF)
		case err != nil && err != io.EOF:
			return err
		}
	}
	body.Read(make([]byte, 1)) // read io.EOF, so that the connection is reused
	return nil
}

// openPiece returns the body of a segment. It sends the request, unless the
// body is already open.
func (d *segmentedBody) openPiece(p *piece) (io.ReadCloser, error) {
	if p.body != nil { // the first segment
		return p.body, nil
	}
	req := d.req.Clone()
	req.Range = p.Range
	resp, err := d.segmenter.next.Do(d.ctx, req)
	if err != nil {
		return nil, err
	}
	switch {
	case resp.Fault != nil:
		err = resp.Fault
	case resp.Offset != p.First, resp.Unchanged, !resp.Location.IsZero(), resp.Size >= 0 && resp.Size != d.end,
		resp.Validator != "" && resp.Validator != d.req.IfSame:
		err = fetch.Mismatch.Errorf("the object changed during the download")
	default:
		d.mu.Lock()
		defer d.mu.Unlock()
		p.body = resp.Body
		return p.body, nil
	}
	resp.Body.Close()
	return nil, err
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

// waitForData waits for bytes of the first segment. It returns the segment and
// the number of bytes that can be read. The number is zero at the end of the
// body or after an error.
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

// releasePiece removes the first segment from the queue and reuses its buffer.
func (d *segmentedBody) releasePiece(head *piece) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pos, d.queue = 0, d.queue[1:]
	d.free = append(d.free, head.buf[:cap(head.buf)])
	d.changed.Broadcast()
}

// Close cancels the requests in progress and waits until the workers have
// ended. It also closes their bodies, because the context of the first segment
// is the context of the caller.
func (d *segmentedBody) Close() error {
	d.cancel()
	d.mu.Lock()
	d.stopped = true
	d.changed.Broadcast()
	var bodies []io.Closer
	for _, p := range d.queue {
		if p.body != nil {
			bodies = append(bodies, p.body)
		}
	}
	d.mu.Unlock()
	for _, b := range bodies {
		b.Close()
	}
	d.working.Wait()
	return nil
}
