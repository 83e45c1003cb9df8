package mail

import (
	"context"
	"strconv"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/sessions"
	"github.com/emersion/go-imap/v2"
)

// driver is that of imap and imaps.
type driver struct {
	Options
	env         fetch.Env
	port        uint16
	implicitTLS bool
	idle        sessions.Pool[*session]
}

// A task is one request on its way: what it names, where, and for whom.
type task struct {
	locator
	endpoint endpoint
	req      *fetch.Request
	creds    credentials

	filter func(*imap.Envelope) bool // of what is found; nil: all
}

// Do implements fetch.Driver.
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
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	creds.prompt = d.env.Login
	q := &task{locator: l, endpoint: endpoint{t, d.implicitTLS}, req: req, creds: creds}
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

// ask returns the response to q.
func (d *driver) request(ctx context.Context, q *task) (resp *fetch.Response, err error) {
	open := func() (*session, error) { return d.connect(ctx, q) }
	key := sessions.Key(ctx, d.env.Net, q.endpoint.Target, q.creds.auth, strconv.FormatBool(q.endpoint.implicitTLS))
	err = d.idle.Do(ctx, key, q.req.Trace, open, func(l *lease) (err error) {
		resp, err = q.response(l)
		return err
	})
	return resp, err
}

// lease is the use of a session by one request.
type lease = sessions.Lease[*session]

// respond begins the response to q. Its Body ends the lease.
func (q *task) response(l *lease) (*fetch.Response, error) {
	s := l.Session
	q.req.Trace.Reached(fetch.RequestSent, s.NetConn)
	resp, err := s.response(q)
	if err != nil {
		return nil, err
	}
	q.req.Trace.Reached(fetch.FirstByte, s.NetConn)
	resp.Proto, resp.Peer, resp.TLS = "IMAP4rev1", fetch.PeerOf(s.NetConn), s.TLS
	resp.Body = l.Body(resp.Body, nil)
	return resp, nil
}

// begin sends the commands for q up to the first byte of the object. A nil Body
// is an empty one.
func (s *session) response(q *task) (*fetch.Response, error) {
	if q.kind == kindServer {
		return s.listMailboxes(q)
	}
	resp, err := s.mailboxResponse(q)
	if fault := fetch.FaultOf(err); (fault == fetch.NotFound || fault == fetch.Protocol && q.index != 0) && s.mailbox != nil && !s.mailbox.justSelected && !s.IsBroken() {
		s.mailbox = nil // it may be there by now, or have another number
		resp, err = s.mailboxResponse(q)
	}
	return resp, err
}

func (s *session) mailboxResponse(q *task) (*fetch.Response, error) {
	if err := s.examine(q); err != nil {
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
