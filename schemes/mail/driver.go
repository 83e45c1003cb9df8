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
	env      fetch.Env
	port     uint16
	implicit bool
	idle     sessions.Pool[*session]
}

// A task is one request on its way: what it names, where, and for whom.
type task struct {
	locator
	at  place
	req *fetch.Request
	who login

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

// ask returns the response to q.
func (d *driver) ask(ctx context.Context, q *task) (resp *fetch.Response, err error) {
	open := func() (*session, error) { return d.open(ctx, q) }
	key := sessions.Key(ctx, d.env.Net, q.at.Target, q.who.auth, strconv.FormatBool(q.at.implicit))
	err = d.idle.Do(ctx, key, q.req.Trace, open, func(l *lease) (err error) {
		resp, err = q.respond(l)
		return err
	})
	return resp, err
}

// lease is the use of a session by one request.
type lease = sessions.Lease[*session]

// respond begins the response to q. Its Body ends the lease.
func (q *task) respond(l *lease) (*fetch.Response, error) {
	s := l.Session
	q.req.Trace.Reached(fetch.Asked, s.NetConn)
	resp, err := s.begin(q)
	if err != nil {
		return nil, err
	}
	q.req.Trace.Reached(fetch.Answered, s.NetConn)
	resp.Proto, resp.Peer, resp.TLS = "IMAP4rev1", fetch.PeerOf(s.NetConn), s.TLS
	resp.Body = l.Body(resp.Body, nil)
	return resp, nil
}

// begin sends the commands for q up to the first byte of the object. A nil Body
// is an empty one.
func (s *session) begin(q *task) (*fetch.Response, error) {
	if q.kind == server {
		return s.mailboxes(q)
	}
	resp, err := s.inMailbox(q)
	if fault := fetch.FaultOf(err); (fault == fetch.NotFound || fault == fetch.Protocol && q.index != 0) && s.mailbox != nil && !s.mailbox.fresh && !s.IsBroken() {
		s.mailbox = nil // it may be there by now, or have another number
		resp, err = s.inMailbox(q)
	}
	return resp, err
}

func (s *session) inMailbox(q *task) (*fetch.Response, error) {
	if err := s.examine(q); err != nil {
		if fetch.FaultOf(err) == fetch.NotFound && q.kind == messages && s.mailbox == nil && !s.IsBroken() {
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
