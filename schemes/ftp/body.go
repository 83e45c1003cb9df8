package ftp

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/splice"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

const (
	lastReply = 30 * time.Second // maximum time from the end of the data to the final reply
	lateReply = time.Second      // shorter limit, for example after Close
)

// A body reads the data of one transfer. It returns io.EOF only after the
// server has confirmed on the control connection that it sent all data. When
// the context of the request ends, both connections are closed.
type body struct {
	lease   *lease
	session *session
	data    *transfer
	release func() bool // stops watching the context
	sessions.Skip

	mu        sync.Mutex
	remaining int64 // unread bytes of the requested range; -1: the range extends to the end of the data
	untilSize int64 // unread bytes of the file according to its SIZE; -1: unknown
	err       error // returned by all later reads

	listing []byte // start of a listing, which the function complaint checks for errors
}

var (
	errEnough = errors.New("end of the requested range")
	errClosed = fetch.Usage.Errorf("read after Close")
)

func newBody(ctx context.Context, l *lease, t *transfer) *body {
	b := &body{lease: l, session: l.Session, data: t, remaining: t.length, untilSize: -1}
	b.release = context.AfterFunc(ctx, func() { netConn(t.Conn).Close() })
	return b
}

// abort closes both connections, so that a blocked Read returns.
func (b *body) abort() {
	netConn(b.data.Conn).Close()
	b.session.Abort()
}

// netConn returns the TCP connection below c if c is a TLS connection, and
// otherwise c. Closing the TCP connection does not send close_notify, which
// could block.
func netConn(c net.Conn) net.Conn {
	if u, ok := c.(*unreadConn); ok {
		c = u.Conn
	}
	if t, ok := c.(*tls.Conn); ok {
		return t.NetConn()
	}
	return c
}

func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return 0, b.err
	}
	if err := b.skip(); err != nil {
		return 0, b.end(err, lastReply)
	}
	if b.remaining == 0 {
		return 0, b.end(b.rest(), lateReply)
	}
	if b.remaining > 0 && int64(len(p)) > b.remaining {
		p = p[:b.remaining]
	}
	n, err := b.data.Read(p)
	return b.received(p, n, err)
}

// CanReadPipe implements splice.Source. For listings, texts and the bytes
// before a range, it returns false, because these need Read.
func (b *body) CanReadPipe() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err == nil && b.data.skip == 0 && b.remaining != 0 && b.untilSize != 0 && !b.data.list && b.data.text == nil &&
		splice.CanRead(b.data.Conn)
}

// ReadPipe implements splice.Source.
func (b *body) ReadPipe(p *splice.Pipe, limit int) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.remaining > 0 {
		limit = int(min(int64(limit), b.remaining))
	}
	if b.untilSize > 0 {
		limit = int(min(int64(limit), b.untilSize))
	}
	n, err := splice.Read(b.data.Conn, p, limit)
	return b.received(nil, n, err)
}

// received counts n bytes that were read from the data connection, and returns
// the results for Read. If the data is a listing, p contains the bytes. The
// caller holds b.mu.
func (b *body) received(p []byte, n int, err error) (int, error) {
	if b.data.list && len(b.listing) <= maxComplaint {
		b.listing = append(b.listing, p[:min(n, maxComplaint+1-len(b.listing))]...)
	}
	if b.remaining > 0 {
		b.remaining -= int64(n)
	}
	if b.untilSize >= 0 && int64(n) > b.untilSize {
		n, err = int(b.untilSize), fetch.Mismatch.Errorf("the file is longer than its SIZE")
	}
	if b.untilSize > 0 {
		b.untilSize -= int64(n)
	}
	if err != nil {
		err = b.end(err, lastReply)
	}
	return n, err
}

// skip discards the bytes before the requested range.
func (b *body) skip() error {
	if b.data.skip == 0 {
		return nil
	}
	n, err := b.Discard(b.data, b.data.skip)
	b.data.skip -= n
	return err
}

// end ends the transfer and returns the error for the last Read, which is
// io.EOF after success. The argument err is the error of the data connection.
func (b *body) end(err error, limit time.Duration) error {
	s := b.session
	b.data.Close() // proftpd waits for this close before it sends the final reply
	switch {
	case err == errEnough:
		s.Break() // the server will send an error reply at an unknown time
		b.err = io.EOF
	case isEnd(err, s):
		if err != io.EOF {
			s.Trace().Notef("the data connection ended without close_notify")
		}
		b.err = b.complete(limit)
	default:
		s.Break()
		b.err = cutShort(err)
	}
	b.release()
	b.lease.End(true)
	return b.err
}

// isEnd reports whether err means that the server closed the data connection.
// Many servers omit close_notify under TLS. The final reply on the control
// connection confirms the end in that case.
func isEnd(err error, s *session) bool {
	return err == io.EOF || s.dataTLS != nil && err == io.ErrUnexpectedEOF
}

// complete reads the final reply of the transfer (RFC 959 5.4). It returns
// io.EOF if the data is complete.
func (b *body) complete(limit time.Duration) error {
	s, r := b.session, b.data.reply
	if r.Code/100 == 1 {
		requested := b.data.whole && s.requestPort()
		var err error
		if r, err = s.reply(limit); err != nil {
			return cutShort(err)
		}
		if requested {
			s.port.state = portRequested
		}
	}
	switch {
	case r.Code/100 == 2:
		s.inStep()
		if b.data.list && isUnread(r) {
			return &fetch.Error{Code: r.Code, Err: fetch.Denied.Errorf("end of listing: %s", sentence(r))}
		}
		if err := complaint(b.listing); err != nil {
			return &fetch.Error{Code: r.Code, Err: err}
		}
		if b.untilSize > 0 {
			return fetch.Truncated.Errorf("the transfer ended %d bytes before the SIZE of the file: %w", b.untilSize, io.ErrUnexpectedEOF)
		}
		return io.EOF
	case r.Code >= 400:
		return &fetch.Error{Code: r.Code, Err: fetch.Truncated.Errorf("end of transfer: %s", sentence(r))}
	}
	s.Break()
	return refused("end of transfer", r)
}

// cutShort returns the error for a transfer that err has ended early, in most
// cases a fetch.Truncated error.
func cutShort(err error) error {
	switch fetch.FaultOf(err) {
	case fetch.Timeout, fetch.Canceled, fetch.TLS, fetch.Protocol, fetch.Mismatch:
		return err
	}
	return fetch.Truncated.Errorf("transfer interrupted: %w", err)
}

// Close ends the transfer. If all data was read, Close waits briefly for the
// final reply, so that the session can be reused. Close may be called during a
// Read.
func (b *body) Close() error {
	if !b.mu.TryLock() {
		b.abort()
		b.mu.Lock()
	}
	defer b.mu.Unlock()
	if b.err == nil {
		b.finish()
	}
	b.err = errClosed
	return nil
}

func (b *body) finish() {
	err := errEnough
	if b.remaining <= 0 {
		err = b.rest()
	}
	if err == errEnough {
		netConn(b.data.Conn).Close()
	}
	b.end(err, lateReply)
}

// rest waits briefly for the server to close the data connection after the last
// byte of the file. It returns errEnough if the server does not close it, or if
// the file has more bytes or an unknown size.
func (b *body) rest() error {
	if b.untilSize != 0 {
		return errEnough
	}
	var one [1]byte
	b.data.SetReadDeadline(time.Now().Add(lateReply))
	if n, err := b.data.Read(one[:]); n == 0 && isEnd(err, b.session) {
		return err
	}
	return errEnough
}
