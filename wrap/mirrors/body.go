package mirrors

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
)

// A body is the body of a response. One goroutine for each active mirror
// retrieves pieces in the order of the object. Read returns their bytes. The
// goroutines end when Close is called.
type body struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	client  fetch.Driver
	object  Object
	trace   *trace.Trace
	working sync.WaitGroup

	mu      sync.Mutex
	changed sync.Cond
	mirrors []*mirror // not yet used
	live    []*mirror // in use
	active  int       // running goroutines
	window  []*piece  // pieces from the position of Read on
	next    int64     // offset of the next piece that is not in the window
	size    int64     // of the object, or -1 until the first response
	media   string
	proto   string
	err     error // why no mirror is left
	same    bool  // a mirror has no object that satisfies the condition of its request
	closed  bool

	pos int // in the first piece of window; used only by Read
}

func newBody(ctx context.Context, cancel context.CancelCauseFunc, client fetch.Driver, o Object, t *trace.Trace) *body {
	b := &body{ctx: ctx, cancel: cancel, client: client, object: o, trace: notesOf(t), mirrors: newMirrors(o.Mirrors), size: o.Size}
	b.changed.L = &b.mu
	context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.changed.Broadcast()
	})
	return b
}

// notesOf returns a Trace with the notes of t only, because several requests must
// not report their bytes to the same Trace.
func notesOf(t *trace.Trace) *trace.Trace {
	if t == nil {
		return nil
	}
	return &trace.Trace{Note: t.Note, Detail: t.Detail}
}

func (b *body) pieceSize() int64 {
	if b.object.PieceSize > 0 {
		return b.object.PieceSize
	}
	return usualPiece
}

// start starts at an offset of the object. The first piece may begin before the
// offset, because only complete pieces can be verified.
func (b *body) start(offset int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next = offset - offset%b.pieceSize()
	b.pos = int(offset - b.next)
	b.fill()
	for range min(len(b.mirrors), maxActive) {
		b.active++
		b.working.Go(b.work)
	}
}

// fill adds pieces to the window.
func (b *body) fill() {
	size := b.pieceSize()
	for (b.size < 0 || b.next < b.size) && int64(len(b.window)) < max(maxMemory/size, 2) {
		p := &piece{first: b.next, end: b.next + size}
		if b.size >= 0 {
			p.end = min(p.end, b.size)
		}
		if i := b.next / size; i < int64(len(b.object.Pieces)) {
			p.digest = &b.object.Pieces[i]
		}
		b.window = append(b.window, p)
		b.next = p.end
		if b.size < 0 && len(b.window) > 0 {
			return // until the size is known, only one piece exists
		}
	}
}

// await waits until the first piece is complete, or until no mirror is left.
func (b *body) await() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.wait()
}

func (b *body) wait() error {
	for {
		switch {
		case b.ctx.Err() != nil:
			return context.Cause(b.ctx)
		case len(b.window) == 0 || b.window[0].done:
			return nil
		case b.active == 0:
			return cmp.Or(b.err, error(fetch.Internal.Errorf("no mirror is left")))
		}
		b.changed.Wait()
	}
}

// unchanged reports whether no mirror has sent a part of the object, and a mirror has
// reported that the object is unchanged.
func (b *body) unchanged() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.same && b.media == "" && b.proto == "" && b.ctx.Err() == nil
}

func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if b.closed {
			return 0, fetch.Usage.Errorf("the body is closed")
		}
		if err := b.wait(); err != nil {
			return 0, err
		}
		if len(b.window) == 0 {
			return 0, io.EOF
		}
		first := b.window[0]
		if n := copy(p, first.data[min(b.pos, len(first.data)):]); n > 0 {
			b.pos += n
			return n, nil
		}
		b.window[0] = nil
		b.window, b.pos = b.window[1:], 0
		b.fill()
		b.changed.Broadcast()
	}
}

// Close ends all requests and waits for the goroutines.
func (b *body) Close() error {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.cancel(fetch.Canceled.Errorf("the body is closed"))
	b.working.Wait()
	return nil
}

// work retrieves pieces. It uses one mirror until this mirror has failed too
// often, and then the next.
func (b *body) work() {
	var m *mirror
	for {
		var run []*piece
		if m, run = b.claim(m); run == nil {
			return
		}
		b.release(m, run, b.retrieve(m, run))
	}
}

// claim returns the next pieces for m, which follow each other. It waits until
// there is a piece. If m is nil or has failed too often, another mirror replaces
// it. At the end of the work, claim returns no pieces.
func (b *body) claim(m *mirror) (*mirror, []*piece) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.ctx.Err() == nil && len(b.window) > 0 {
		if m == nil || m.ended || b.stuck() {
			b.live = slices.DeleteFunc(b.live, func(o *mirror) bool { return o == m })
			if len(b.mirrors) == 0 {
				break
			}
			m, b.mirrors = b.mirrors[0], b.mirrors[1:]
			b.live = append(b.live, m)
		}
		if run := b.available(m); run != nil {
			for _, p := range run {
				p.owners = append(p.owners, m)
			}
			return m, run
		}
		if b.stuck() {
			continue
		}
		b.changed.Wait()
	}
	b.active--
	b.changed.Broadcast()
	return nil, nil
}

// stuck reports whether no mirror in use can supply some piece.
func (b *body) stuck() bool {
	return slices.ContainsFunc(b.window, func(p *piece) bool {
		return !p.done && len(p.owners) == 0 && !slices.ContainsFunc(b.live, func(m *mirror) bool { return !slices.Contains(p.tried, m) })
	})
}

// available returns the first run of pieces that m may retrieve. If there is
// none, but Read waits for a piece of another mirror and all other pieces are
// complete or in progress, it returns this piece: the mirror may be slow.
func (b *body) available(m *mirror) []*piece {
	i := slices.IndexFunc(b.window, func(p *piece) bool { return p.available(m) })
	if i < 0 {
		first := b.window[0]
		full := b.size >= 0 && (b.next >= b.size || int64(len(b.window)) >= max(maxMemory/b.pieceSize(), 2))
		if full && !first.done && len(first.owners) == 1 && first.owners[0] != m && !slices.Contains(first.tried, m) {
			return []*piece{first}
		}
		return nil
	}
	run := []*piece{b.window[i]}
	for _, p := range b.window[i+1:] {
		if len(b.window[i].tried) > 0 || !p.available(m) || len(p.tried) > 0 || p.end-run[0].first > maxRun {
			break
		}
		run = append(run, p)
	}
	return run
}

// release ends the use of the pieces by m. A failed mirror gets no further
// pieces after maxFailed failures.
func (b *body) release(m *mirror, run []*piece, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range run {
		p.owners = slices.DeleteFunc(p.owners, func(o *mirror) bool { return o == m })
	}
	if err != nil && b.ctx.Err() == nil {
		b.err = err
		m.failed++
		if errors.Is(err, errUnchanged) {
			b.same, m.ended = true, true
		} else if _, fatal := errors.AsType[*unusableError](err); fatal || m.failed >= maxFailed || !fetch.Retryable(err) && fetch.FaultOf(err) != fetch.Mismatch {
			m.ended = true
			b.trace.Notef("mirror %s is not used any more: %v", m.req.URL, err)
		}
	}
	b.changed.Broadcast()
}

// An unusableError means that a mirror cannot serve the object.
type unusableError struct{ err error }

func (e *unusableError) Error() string { return e.err.Error() }
func (e *unusableError) Unwrap() error { return e.err }
