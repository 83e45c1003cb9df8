package mail

import (
	"context"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/emersion/go-imap/v2"
)

// A driver performs requests for imap and imaps URLs.
type driver struct {
	Options
	env         fetch.Env
	port        uint16
	implicitTLS bool
	idle        sessions.Pool[*session]
	validities  validities
}

// A task holds a request with its parsed URL, the server address and the
// credentials.
type task struct {
	locator
	target fetch.Target
	req    *fetch.Request
	creds  credentials

	filter func(*imap.Envelope) bool // selects messages from search results; nil selects all
}

// Do implements [fetch.Driver].
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	l, err := parseLocator(req.URL)
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
	creds, err := credentialsOf(req, d.Mechanism)
	if err != nil {
		return nil, err
	}
	creds.prompt = d.env.Login
	q := &task{locator: l, target: t, req: req, creds: creds}
	if d.Mbox && req.Op == fetch.Get && (l.kind == kindMailbox || l.kind == kindSearch) {
		return d.mboxResponse(ctx, q)
	}
	resp, err := d.request(ctx, q)
	switch {
	case err != nil:
	case l.kind == kindMailbox:
		d.makeResumable(ctx, q, resp)
	case d.Mbox && req.Op == fetch.Get && l.kind == kindMessage && l.section == "" && resp.Time.IsZero():
		resp.Time = d.receivedTime(ctx, q)
	}
	return resp, err
}

// request performs a request on a pooled or new session and returns the
// response.
func (d *driver) request(ctx context.Context, q *task) (*fetch.Response, error) {
	return sessions.Retriever[*session]{
		Pool: &d.idle, Env: d.env, Request: q.req, Target: q.target, Auth: q.creds.auth,
		TLS: d.implicitTLS, New: func(c *sessions.Conn) *session { return d.newSession(c, q.target) }, Goodbye: "Z LOGOUT\r\n",
		Open: func(ctx context.Context, s *session, _ *fetch.Credential) error {
			if err := d.negotiate(ctx, s, q.creds); err != nil {
				return err
			}
			s.startClient()
			return nil
		},
	}.Do(ctx, func(l *lease) (*fetch.Response, error) { return q.response(ctx, l) })
}

// A lease gives one request the exclusive use of a session.
type lease = sessions.Lease[*session]

// response sends the commands for the request and returns the response. The
// lease ends when the response body is closed or read completely.
func (q *task) response(ctx context.Context, l *lease) (*fetch.Response, error) {
	s := l.Session
	q.req.Trace.Reached(trace.RequestSent, s.NetConn)
	resp, err := s.response(ctx, q)
	if err != nil {
		return nil, err
	}
	q.req.Trace.Reached(trace.FirstByte, s.NetConn)
	resp.Proto, resp.Body = "IMAP4rev1", l.Body(resp.Body, nil)
	return resp, nil
}

// response sends the commands for the task q. The Body of the result reads the
// content from the session. A nil Body means empty content.
func (s *session) response(ctx context.Context, q *task) (*fetch.Response, error) {
	if q.kind == kindServer {
		return s.listMailboxes(q)
	}
	resp, err := s.mailboxResponse(ctx, q)
	fault := fetch.FaultOf(err)
	absent := fault == fetch.NotFound || fault == fetch.Protocol && q.index != 0
	if absent && s.mailbox != nil && !s.mailbox.justSelected && !s.IsBroken() {
		s.mailbox = nil // the next request opens the mailbox again, because it may have changed
		resp, err = s.mailboxResponse(ctx, q)
	}
	return resp, err
}

func (s *session) mailboxResponse(ctx context.Context, q *task) (*fetch.Response, error) {
	if err := s.examine(ctx, q); err != nil {
		if fetch.FaultOf(err) == fetch.NotFound && q.kind == kindMailbox && s.mailbox == nil && !s.IsBroken() {
			return s.listChildren(q, err)
		}
		return nil, err
	}
	switch q.kind {
	case kindMailbox:
		return s.listMessages(q)
	case kindSearch:
		return s.listSearch(q)
	case kindMessageID:
		return s.messageByID(q)
	}
	return s.message(q)
}
