package mail

import (
	"context"
	"io"
	"net"
	"strings"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/pool"
	"github.com/emersion/go-imap/v2"
)

// driver is that of imap and imaps.
type driver struct {
	Options
	env      fetch.Env
	port     uint16
	implicit bool
	idle     pool.Pool[*session]
}

// A task is one request on its way: what it names, where, and for whom.
type task struct {
	locator
	at  place
	req *fetch.Request
	who login
	key string // of its sessions in the pool

	keep func(*imap.Envelope) bool // of what is found; nil: all
}

// Do implements fetch.Driver.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	t, err := fetch.TargetOf(req.URL, d.port)
	if err != nil {
		return nil, err
	}
	if t.Host == "" {
		return nil, fetch.BadURL.Errorf("no host")
	}
	who, err := loginOf(req, d.Mechanism)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	who.ask = d.env.Login
	q := &task{locator: l, at: place{t, d.implicit}, req: req, who: who}
	if d.Mbox && req.Op == fetch.Get && (l.kind == messages || l.kind == found) {
		return d.mbox(ctx, q)
	}
	resp, err := d.ask(ctx, q)
	switch {
	case err != nil:
	case l.kind == messages:
		d.continued(ctx, q, resp)
	case d.Mbox && req.Op == fetch.Get && l.kind == message && l.section == "" && resp.Time.IsZero():
		resp.Time = d.received(ctx, q)
	}
	return resp, err
}

// ask carries out q on a session of the pool, or on a new one where there is
// none or it has died.
func (d *driver) ask(ctx context.Context, q *task) (*fetch.Response, error) {
	q.key = d.key(ctx, q)
	if s, ok := d.idle.Get(q.key); ok {
		s.listen(q.req.Trace)
		s.reused = true
		resp, err := d.carryOut(ctx, q, s)
		if err == nil || !s.reused || !s.broken.Load() || ctx.Err() != nil {
			return resp, err
		}
	}
	s, err := d.open(ctx, q.at, q.who, q.req.Trace)
	if err != nil {
		return nil, err
	}
	return d.carryOut(ctx, q, s)
}

// key holds all that two requests must share to share a session.
func (d *driver) key(ctx context.Context, q *task) string {
	parts := []string{d.env.Net.Key(ctx), q.at.Address()}
	if q.at.implicit {
		parts = append(parts, "tls")
	}
	if a := q.who.auth; a != nil {
		parts = append(parts, "user", a.User, a.Password.Reveal(), a.Token.Reveal())
	}
	return strings.Join(parts, "\x00")
}

// carryOut begins the response of s to q. Its Body takes over s.
func (d *driver) carryOut(ctx context.Context, q *task, s *session) (*fetch.Response, error) {
	stop := context.AfterFunc(ctx, s.abort)
	end := func(whole bool) {
		if stop() && whole && !s.broken.Load() {
			d.giveBack(q, s)
			return
		}
		s.broken.Store(true)
		s.listen(nil)
		s.abort()
	}
	q.req.Trace.Reached(fetch.Asked, s.door)
	resp, err := s.respond(q)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		end(true)
		return nil, err
	}
	q.req.Trace.Reached(fetch.Answered, s.door)
	resp.Proto, resp.Peer, resp.TLS = "IMAP4rev1", fetch.PeerOf(s.door), s.secure
	b := &body{reader: resp.Body, end: end}
	if resp.Body == nil {
		b.finish(true)
	}
	resp.Body = b
	return resp, nil
}

// giveBack puts a session into the pool.
func (d *driver) giveBack(q *task, s *session) {
	s.listen(nil)
	d.idle.Put(q.key, s)
}

// respond sends the commands for q up to the beginning of what it names. A nil
// Body is an empty one.
func (s *session) respond(q *task) (*fetch.Response, error) {
	if q.kind == server {
		return s.mailboxes(q)
	}
	resp, err := s.inMailbox(q)
	if fault := fetch.FaultOf(err); (fault == fetch.NotFound || fault == fetch.Protocol && q.index != 0) && s.mailbox != nil && !s.mailbox.fresh && !s.broken.Load() {
		s.mailbox = nil // it may be there by now, or have another number
		resp, err = s.inMailbox(q)
	}
	return resp, err
}

func (s *session) inMailbox(q *task) (*fetch.Response, error) {
	if err := s.examine(q); err != nil {
		if fetch.FaultOf(err) == fetch.NotFound && q.kind == messages && s.mailbox == nil && !s.broken.Load() {
			return s.below(q, err)
		}
		return nil, err
	}
	switch q.kind {
	case messages:
		return s.messages(q)
	case found:
		return s.found(q)
	case byID:
		return s.byID(q)
	}
	return s.message(q)
}

// A body is what a session brings. It ends the session's use by the request.
type body struct {
	reader io.ReadCloser // nil: nothing comes
	end    func(whole bool)
	ended  atomic.Bool
	err    error
}

func (b *body) Read(p []byte) (int, error) {
	switch {
	case b.err != nil:
		return 0, b.err
	case b.reader == nil:
		return 0, io.EOF
	case b.ended.Load():
		return 0, net.ErrClosed
	}
	n, err := b.reader.Read(p)
	if err != nil {
		b.err = err
		b.finish(err == io.EOF)
	}
	return n, b.err
}

// Close ends what is under way. The library waits until somebody has taken
// the rest from it, which is soon where the connection is gone.
func (b *body) Close() error {
	b.finish(false)
	if b.reader != nil {
		b.reader.Close()
	}
	return nil
}

func (b *body) finish(whole bool) {
	if b.ended.CompareAndSwap(false, true) {
		b.end(whole)
	}
}
