package sessions

import (
	"context"
	"io"
	"net"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
)

// A Lease is the use of a session by one request. The end of the request's
// ctx aborts the session.
type Lease[S Session] struct {
	Session S // valid until End

	pool  *Pool[S]
	ctx   context.Context
	key   string
	trace *fetch.Trace
	stop  func() bool
	ended atomic.Bool
}

func (p *Pool[S]) lease(ctx context.Context, key string, trace *fetch.Trace, s S) *Lease[S] {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue(key).leased++
	return &Lease[S]{Session: s, pool: p, ctx: ctx, key: key, trace: trace, stop: context.AfterFunc(ctx, s.Abort)}
}

// Rekey changes the key under which the Pool keeps the session.
func (l *Lease[S]) Rekey(key string) {
	if key == l.key {
		return
	}
	p := l.pool
	p.mu.Lock()
	p.queue(key).leased++
	p.mu.Unlock()
	p.endLease(l.key)
	l.key = key
}

// unlease counts a session of key as no longer in use.
func (p *Pool[S]) endLease(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.queues[key]
	q.leased--
	select {
	case q.freed <- struct{}{}:
	default:
	}
	p.deleteEmptyQueue(key, q)
}

// Replace closes the session and continues the lease with a new session from
// open, after a call of the Trace's Again. The lease ends if open fails.
func (l *Lease[S]) Replace(open func() (S, error)) error {
	l.stop()
	l.Session.Close()
	l.trace.Restarted()
	s, err := open()
	if err != nil {
		l.ended.Store(true)
		l.pool.endLease(l.key)
		return err
	}
	l.Session, l.stop = s, context.AfterFunc(l.ctx, s.Abort)
	return nil
}

// Over reports whether the lease has ended.
func (l *Lease[S]) Ended() bool { return l.ended.Load() }

// End ends the lease. The session returns to the Pool if complete is true, the
// ctx has not ended and the session accepts another request. With complete
// false End may be called beside any use of the session. Only the first call
// has an effect.
func (l *Lease[S]) End(complete bool) {
	if l.ended.Swap(true) {
		return
	}
	switch stopped := l.stop(); {
	case !stopped || !complete:
		l.Session.Abort()
	case l.Session.Release():
		l.pool.Put(l.key, l.Session)
	default:
		l.Session.Close()
	}
	l.pool.endLease(l.key)
}

// Body returns a body that reads r and ends the lease. A nil r is an empty
// body, which ends the lease at once. Fault classifies the errors of r, and may
// be nil.
func (l *Lease[S]) Body(r io.Reader, fault func(error) error) *Body {
	if r == nil {
		l.End(true)
	}
	return &Body{Reader: r, fault: fault, ended: l.Ended, End: l.End}
}

// A Body is the body of a response, and ends a lease: at io.EOF the request is
// complete, at another error or at Close before that it is not.
type Body struct {
	Reader io.Reader // nil: empty
	End    func(complete bool)

	fault func(error) error
	ended func() bool
	err   error
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

// Close ends the lease, and closes the Reader if it is an io.Closer. It may be
// called beside Read.
func (b *Body) Close() error {
	b.End(false)
	if c, ok := b.Reader.(io.Closer); ok {
		c.Close()
	}
	return nil
}
