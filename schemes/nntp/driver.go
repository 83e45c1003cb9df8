package nntp

import (
	"context"
	"io"
	"net"
	"strings"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/pool"
)

type driver struct {
	Options
	env      fetch.Env
	implicit bool
	idle     pool.Pool[*session]
}

func newDriver(o Options, env fetch.Env, implicit bool) *driver {
	return &driver{Options: o, env: env, implicit: implicit, idle: pool.Pool[*session]{Idle: idleTime, Done: env.Done}}
}

// A query is one request on its way: what it names, where, and for whom.
type query struct {
	locator
	at   place
	req  *fetch.Request
	auth *fetch.Credential
	key  string // of its sessions in the pool
}

// Do implements fetch.Driver.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	l, err := d.locate(req)
	if err != nil {
		return nil, err
	}
	at, err := d.place(req.URL, d.implicit)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !req.Range.IsZero() {
		req.Trace.Notef("nntp has no ranges: the whole object comes")
	}
	q := &query{locator: l, at: at, req: req, auth: req.Auth}
	q.key = d.key(ctx, q)
	s, err := d.session(ctx, q)
	if err != nil {
		return nil, err
	}
	return d.carryOut(ctx, q, s)
}

// key holds all that two requests must share to share a session.
func (d *driver) key(ctx context.Context, q *query) string {
	parts := []string{d.env.Net.Key(ctx), q.at.Address()}
	if q.at.implicit {
		parts = append(parts, "tls")
	}
	if a := q.auth; a != nil {
		parts = append(parts, "user", a.User, a.Password.Reveal())
	}
	return strings.Join(parts, "\x00")
}

// session takes one from the pool or opens one.
func (d *driver) session(ctx context.Context, q *query) (*session, error) {
	for {
		s, ok := d.idle.Get(q.key)
		switch {
		case !ok:
			return d.open(ctx, q.at, q.auth, q.req.Trace)
		case s.lines.Buffered() == 0 && fetch.Quiet(s.wire):
			s.trace, s.reused = q.req.Trace, true
			return s, nil
		}
		s.abort() // bytes that arrive before a command are not the answer to it
	}
}

// carryOut asks s for what q names, on a new connection where the pool's has
// died, and once more after what the server asks for: a login, encryption.
func (d *driver) carryOut(ctx context.Context, q *query, s *session) (*fetch.Response, error) {
	for tries := 0; ; tries++ {
		reused, stop := s.reused, context.AfterFunc(ctx, s.abort)
		resp, err := d.respond(q, s, stop)
		if err == nil {
			return resp, nil
		}
		stop()
		if ctx.Err() != nil {
			s.abort()
			return nil, context.Cause(ctx)
		}
		switch code := codeOf(err); {
		case tries == 3: // a server that is never content
			d.giveBack(q, s)
			return nil, err
		case reused && s.reused:
			s, err = d.instead(ctx, q, s, q.auth)
		case code == 480 && !s.loggedIn:
			s, err = d.identify(ctx, q, s, err)
		case code == 483 && s.secure == nil && d.TLS != fetch.TLSNever:
			s, err = d.secure(ctx, q, s)
		default:
			d.giveBack(q, s)
			return nil, err
		}
		if err != nil {
			return nil, err
		}
	}
}

// giveBack puts a session into the pool, or ends it.
func (d *driver) giveBack(q *query, s *session) {
	if !s.inStep() {
		s.Close()
		return
	}
	s.trace = nil
	d.idle.Put(q.key, s)
}

// identify logs in where the server asked for it by refusing, and err is that
// refusal.
func (d *driver) identify(ctx context.Context, q *query, s *session, err error) (*session, error) {
	auth := q.auth
	if auth == nil {
		found, asked := d.ask(ctx, s, fetch.Challenge{Realm: err.Error()})
		if asked != nil {
			err = asked
		}
		if auth = found; auth == nil {
			d.giveBack(q, s)
			return nil, err
		}
	}
	return d.again(ctx, q, s, func() error { return d.login(ctx, s, auth) }, auth)
}

func (d *driver) secure(ctx context.Context, q *query, s *session) (*session, error) {
	return d.again(ctx, q, s, func() error { return s.startTLS(ctx, d.env.TLS) }, q.auth)
}

// again changes s in place or, where it is compressed (RFC 8054 2.2.2) or out
// of step, opens another session.
func (d *driver) again(ctx context.Context, q *query, s *session, change func() error, auth *fetch.Credential) (*session, error) {
	if s.compressed || !s.inStep() {
		return d.instead(ctx, q, s, auth)
	}
	defer context.AfterFunc(ctx, s.abort)()
	if err := change(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// instead opens a session in place of s. What was said so far is void.
func (d *driver) instead(ctx context.Context, q *query, s *session, auth *fetch.Credential) (*session, error) {
	s.Close()
	if t := q.req.Trace; t != nil && t.Again != nil {
		t.Again()
	}
	return d.open(ctx, q.at, auth, q.req.Trace)
}

// respond begins the response. Its Body takes over s and stop.
func (d *driver) respond(q *query, s *session, stop func() bool) (*fetch.Response, error) {
	s.trace.Reached(fetch.Asked, s.door)
	resp, err := d.begin(q, s)
	if err != nil {
		return nil, err
	}
	s.trace.Reached(fetch.Answered, s.door)
	resp.Proto, resp.Peer, resp.TLS, resp.Size = "NNTP", fetch.PeerOf(s.door), s.secure, -1
	b := &body{r: resp.Body, end: func(whole bool) {
		if stop() && whole {
			d.giveBack(q, s)
			return
		}
		s.abort()
	}}
	if resp.Body == nil {
		b.finish(true)
	}
	resp.Body = b
	return resp, nil
}

// A body is what a session brings. It ends the session's use by the request.
type body struct {
	r     io.Reader // nil: nothing comes
	end   func(whole bool)
	ended atomic.Bool
	err   error
}

func (b *body) Read(p []byte) (int, error) {
	switch {
	case b.err != nil:
		return 0, b.err
	case b.r == nil:
		return 0, io.EOF
	case b.ended.Load():
		return 0, net.ErrClosed
	}
	n, err := b.r.Read(p)
	if err != nil {
		b.err = blockFault(err)
		b.finish(err == io.EOF)
	}
	return n, b.err
}

func (b *body) Close() error {
	b.finish(false)
	return nil
}

func (b *body) finish(whole bool) {
	if b.ended.CompareAndSwap(false, true) {
		b.end(whole)
	}
}
