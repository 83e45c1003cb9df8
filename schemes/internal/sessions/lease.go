package sessions

import (
	"context"
	"io"
	"net"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch/trace"
)

// A Lease gives one request the exclusive use of a session. If the context of
// the request is canceled, the session is aborted.
type Lease[S Session] struct {
	Session S // valid until the lease ends

	pool  *Pool[S]
	ctx   context.Context
	key   string
	trace *trace.Trace
	watch *watch
	stop  func() bool
	ended atomic.Bool
}

// lease returns a lease of s. The caller has called makeRoom and startWatch.
func (p *Pool[S]) lease(ctx context.Context, key string, trace *trace.Trace, s S, w *watch) *Lease[S] {
	return &Lease[S]{
		Session: s, pool: p, ctx: ctx, key: key, trace: trace, watch: w, stop: context.AfterFunc(ctx, s.Abort),
	}
}

// Rekey changes the key of the session. When the lease ends, the session
// returns to the [Pool] under the new key, which must have the same server.
func (l *Lease[S]) Rekey(key string) { l.key = key }

// Answered records that the server has answered the request. A driver calls it
// if the Pool has the field NoGreeting.
func (l *Lease[S]) Answered() { l.pool.markAnswered(l.watch, l.trace) }

// Replace closes the session and continues the lease with a new session. It
// reports a restart to the Trace and then calls open to create the session. If
// open fails, the lease ends and Replace returns the error.
func (l *Lease[S]) Replace(open func() (S, error)) error {
	l.stop()
	l.pool.endWatch(l.watch) // see End
	l.Session.Close()
	l.trace.Restarted()
	l.watch = l.pool.startWatch(l.key, false)
	s, err := open()
	if err != nil {
		l.ended.Store(true)
		l.pool.failWatch(l.watch, err, l.trace)
		l.pool.endLease(l.key, l.watch)
		return err
	}
	if !l.pool.NoGreeting {
		l.Answered()
	}
	l.Session, l.stop = s, context.AfterFunc(l.ctx, s.Abort)
	return nil
}

// Ended reports whether the lease has ended.
func (l *Lease[S]) Ended() bool { return l.ended.Load() }

// End ends the lease. If complete is true, the session returns to the Pool. The
// session is closed instead if complete is false, if the context is canceled,
// or if the session accepts no further requests.
//
// End(false) may be called concurrently with other uses of the session. After
// the first call, End has no effect.
func (l *Lease[S]) End(complete bool) {
	if l.ended.Swap(true) {
		return
	}
	stopped := l.stop()
	keeps := stopped && complete && l.Session.Release() && !l.pool.mustClose(l.watch)
	// Another session can be answered as soon as this one is closed. They must
	// not count as served at the same time.
	l.pool.endWatch(l.watch)
	switch {
	case !stopped || !complete:
		l.Session.Abort()
	case keeps:
		l.pool.Put(l.key, l.Session)
	default:
		l.Session.Close()
	}
	l.pool.endLease(l.key, l.watch)
}

// Body returns a response body that reads from r and ends the lease at the end
// of r. If r is nil, the body is empty and the lease ends immediately. If fault
// is not nil, the body passes each read error to fault and returns the result.
func (l *Lease[S]) Body(r io.Reader, fault func(error) error) *Body {
	if r == nil {
		l.End(true)
	}
	return &Body{Reader: r, fault: fault, ended: l.Ended, End: l.End}
}

// A Body is the body of a response. When the Body was read or closed, it ends
// the [Lease] of the session. At io.EOF, the session returns to the Pool. The
// session is aborted after any other error, or if the Body is closed before
// io.EOF.
type Body struct {
	Reader io.Reader // nil for an empty body
	End    func(complete bool)

	fault func(error) error
	ended func() bool
	err   error
}

// Skipped returns the number of bytes that the Reader has discarded. See [Skip].
func (b *Body) Skipped() int64 {
	if s, ok := b.Reader.(interface{ Skipped() int64 }); ok {
		return s.Skipped()
	}
	return 0
}

func (b *Body) Read(p []byte) (int, error) {
	switch {
	case b.err != nil:
		return 0, b.err
	case b.Reader == nil:
		return 0, io.EOF
	case b.ended():
		return 0, net.ErrClosed
	}
	n, err := b.Reader.Read(p)
	if err != nil {
		if b.err = err; b.fault != nil {
			b.err = b.fault(err)
		}
		b.End(err == io.EOF)
	}
	return n, b.err
}

// Close ends the lease. If Reader is an io.Closer, Close also closes it. Close
// may be called concurrently with Read.
func (b *Body) Close() error {
	b.End(false)
	if c, ok := b.Reader.(io.Closer); ok {
		c.Close()
	}
	return nil
}
