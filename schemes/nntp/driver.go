package nntp

import (
	"cmp"
	"context"
	"strconv"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/sessions"
)

type driver struct {
	Options
	env      fetch.Env
	implicit bool
	idle     sessions.Pool[*session]
}

func newDriver(o Options, env fetch.Env, implicit bool) *driver {
	return &driver{Options: o, env: env, implicit: implicit, idle: sessions.Pool[*session]{Done: env.Done}}
}

// A query is one request on its way: what it names, where, and for whom.
type query struct {
	locator
	at  place
	req *fetch.Request
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
	q := &query{locator: l, at: at, req: req}
	var resp *fetch.Response
	open := func() (*session, error) { return d.open(ctx, q, req.Auth) }
	key := sessions.Key(ctx, d.env.Net, at.Target, req.Auth, strconv.FormatBool(at.implicit))
	err = d.idle.Do(ctx, key, req.Trace, open, func(l *lease) (err error) {
		resp, err = d.carryOut(ctx, q, l)
		return err
	})
	return resp, err
}

// lease is the use of a session by one request.
type lease = sessions.Lease[*session]

// carryOut returns the response to q, after the login or the encryption that
// the server requires.
func (d *driver) carryOut(ctx context.Context, q *query, l *lease) (*fetch.Response, error) {
	for tries := 0; ; tries++ {
		resp, err := d.respond(q, l)
		if err == nil {
			return resp, nil
		}
		switch s, code := l.Session, codeOf(err); {
		case tries == 3 || s.Stale() || ctx.Err() != nil: // three: a server that is never content
			return nil, err
		case code == 480 && !s.loggedIn:
			err = d.identify(ctx, q, l, err)
		case code == 483 && s.TLS == nil && d.TLS != fetch.TLSNever:
			err = d.secure(ctx, q, l)
		}
		if err != nil {
			return nil, err
		}
	}
}

// identify logs in after the server refused q with the error refusal.
func (d *driver) identify(ctx context.Context, q *query, l *lease, refusal error) error {
	auth := q.req.Auth
	if auth == nil {
		found, err := d.ask(ctx, l.Session, fetch.Challenge{Realm: refusal.Error()})
		if found == nil {
			return cmp.Or(err, refusal)
		}
		auth = found
	}
	return d.again(ctx, q, l, auth, func(s *session) error { return d.login(ctx, s, auth) })
}

func (d *driver) secure(ctx context.Context, q *query, l *lease) error {
	return d.again(ctx, q, l, q.req.Auth, func(s *session) error { return s.startTLS(ctx, d.env.TLS) })
}

// again changes the session of l or, if it is compressed (RFC 8054 2.2.2) or
// out of step, replaces it.
func (d *driver) again(ctx context.Context, q *query, l *lease, auth *fetch.Credential, change func(*session) error) error {
	s := l.Session
	if s.compressed || !s.inStep() {
		return l.Replace(func() (*session, error) { return d.open(ctx, q, auth) })
	}
	err := change(s)
	s.unsettled = err != nil
	return err
}

// respond begins the response. Its Body ends the lease.
func (d *driver) respond(q *query, l *lease) (*fetch.Response, error) {
	s := l.Session
	q.req.Trace.Reached(fetch.RequestSent, s.NetConn)
	resp, err := d.begin(q, s)
	if err != nil {
		return nil, err
	}
	q.req.Trace.Reached(fetch.FirstByte, s.NetConn)
	resp.Proto, resp.Peer, resp.TLS, resp.Size = "NNTP", fetch.PeerOf(s.NetConn), s.TLS, -1
	resp.Body = l.Body(resp.Body, blockFault)
	return resp, nil
}
