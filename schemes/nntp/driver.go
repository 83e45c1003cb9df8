package nntp

import (
	"cmp"
	"context"
	"strconv"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A driver carries out requests for news, nntp, snews and nntps URLs.
type driver struct {
	Options
	env         fetch.Env
	implicitTLS bool
	idle        sessions.Pool[*session]
}

func newDriver(o Options, env fetch.Env, implicit bool) *driver {
	return &driver{Options: o, env: env, implicitTLS: implicit, idle: sessions.Pool[*session]{
		Done: env.Done, WaitTimeout: sessions.SlotTimeout, Permits: sessions.Permits[*session](env.Net),
	}}
}

// A task is a request with its parsed URL and the address of the server.
type task struct {
	locator
	endpoint endpoint
	req      *fetch.Request
}

// Do implements [fetch.Driver].
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	l, err := d.parseURL(req)
	if err != nil {
		return nil, err
	}
	endpoint, err := d.endpointOf(req.URL, d.implicitTLS)
	if err != nil {
		return nil, err
	}
	selection.IgnoreRange(req, "nntp")
	q := &task{locator: l, endpoint: endpoint, req: req}
	return d.retriever(q, req.Auth).Do(ctx, func(l *lease) (*fetch.Response, error) { return d.response(ctx, q, l) })
}

// retriever returns the Retriever for sessions that authenticate with auth,
// unless auth is nil.
func (d *driver) retriever(q *task, auth *fetch.Credential) sessions.Retriever[*session] {
	return sessions.Retriever[*session]{
		Pool: &d.idle, Env: d.env, Request: q.req, Target: q.endpoint.Target, Auth: auth,
		Properties: []string{strconv.FormatBool(q.endpoint.implicitTLS)}, TLS: q.endpoint.implicitTLS,
		New:  func(c *sessions.Conn) *session { return newSession(c, q.endpoint) },
		Open: d.open, Goodbye: "QUIT\r\n",
	}
}

// A lease gives one request the exclusive use of a session.
type lease = sessions.Lease[*session]

// response sends the commands for a request and returns the response. If the
// server requires a login or TLS, response authenticates or starts TLS and
// sends the commands again.
func (d *driver) response(ctx context.Context, q *task, l *lease) (*fetch.Response, error) {
	for tries := 0; ; tries++ {
		resp, err := d.attempt(q, l)
		if err == nil {
			return resp, nil
		}
		switch s, code := l.Session, sessions.CodeOf(err); {
		case tries == 3 || s.Stale() || ctx.Err() != nil: // limit for servers that keep requiring a login or TLS
			return nil, err
		case code == 480 && !s.loggedIn:
			err = d.authenticate(ctx, q, l, err)
		case code == 483 && s.TLS == nil && sessions.StartsTLS(d.TLS, scheme.TLSWanted, true):
			err = d.upgradeTLS(ctx, q, l)
		}
		if err != nil {
			return nil, err
		}
	}
}

// authenticate logs in after the server has rejected a request because it
// requires a login. The error refusal contains the reply of the server.
func (d *driver) authenticate(ctx context.Context, q *task, l *lease, refusal error) error {
	auth := q.req.Auth
	if auth == nil {
		c := fetch.Challenge{Origin: q.endpoint.Origin(), Realm: refusal.Error()}
		login, err := sessions.Ask(ctx, d.env.Login, c)
		if login == nil {
			return cmp.Or(err, refusal)
		}
		auth = login
	}
	return d.changeSession(ctx, q, l, auth, func(s *session) error { return d.login(ctx, s, auth) })
}

// upgradeTLS starts TLS after the server has rejected a request because the
// connection is not encrypted.
func (d *driver) upgradeTLS(ctx context.Context, q *task, l *lease) error {
	return d.changeSession(ctx, q, l, q.req.Auth, func(s *session) error { return s.startTLS(ctx, d.env.TLS) })
}

// changeSession changes an open session by calling change, which logs in or
// starts TLS. If the session is compressed (RFC 8054 2.2.2) or out of sync,
// changeSession replaces the session with a new one instead.
func (d *driver) changeSession(ctx context.Context, q *task, l *lease, auth *fetch.Credential,
	change func(*session) error) error {
	s := l.Session
	if s.compressed || !s.inSync() {
		return l.Replace(func() (*session, error) { return d.retriever(q, auth).Connect(ctx) })
	}
	err := change(s)
	s.upgradeFailed = err != nil
	return err
}

// attempt sends the commands for a request once and returns the response. The
// session is released when the Body of the response is closed.
func (d *driver) attempt(q *task, l *lease) (*fetch.Response, error) {
	s := l.Session
	q.req.Trace.Reached(trace.RequestSent, s.NetConn)
	resp, err := d.startResponse(q, s)
	if err != nil {
		return nil, err
	}
	q.req.Trace.Reached(trace.FirstByte, s.NetConn)
	resp.Proto, resp.Peer, resp.TLS, resp.Size = "NNTP", fetch.PeerOf(s.NetConn), s.TLS, -1
	resp.Body = l.Body(resp.Body, sessions.BlockFault)
	return resp, nil
}
