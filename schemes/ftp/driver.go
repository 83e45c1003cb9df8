package ftp

import (
	"context"
	"net/http"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

type driver struct {
	Options
	env      fetch.Env
	port     uint16
	implicit bool // TLS starts with the first byte, without AUTH TLS
	idle     sessions.Pool[*session]
	found    sync.Map // logins from Env.Login for URLs that the user entered, by pool key
	entered  sync.Map // servers of URLs that the user entered, by fetch.Origin
}

// Do retrieves the file or directory of an ftp URL. It uses an idle session of
// the same user, if any.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	p, err := d.parsePath(req.URL)
	if err != nil {
		return nil, err
	}
	t, err := fetch.TargetOf(req.URL, d.port)
	if err != nil {
		return nil, err
	}
	who, err := d.loginFor(req, t.Origin())
	if err != nil {
		return nil, err
	}
	keyOf := func() string { return sessions.Key(ctx, d.env.Net, t, &who.Credential) }
	given := keyOf()
	if found, ok := d.found.Load(given); ok && req.Typed() {
		who = found.(login)
	}
	credential := who.Credential // Dial changes who
	return sessions.Retriever[*session]{
		Pool: &d.idle, Env: d.env, Request: req, Target: t, Auth: &credential,
		Dial: func(ctx context.Context) (*session, error) {
			s, err := d.open(ctx, t, &who, req.Trace)
			if err != nil {
				return nil, err
			}
			if s.key = keyOf(); s.key != given && req.Typed() {
				d.found.Store(given, who)
			}
			return s, nil
		},
	}.Do(ctx, func(l *lease) (*fetch.Response, error) {
		l.Rekey(l.Session.key)
		return d.retrieve(ctx, l, req, p)
	})
}

// A lease gives one request the exclusive use of a session.
type lease = sessions.Lease[*session]

// retrieve sends a request and returns its response. The lease ends when the
// response body has been read completely or is closed.
func (d *driver) retrieve(ctx context.Context, l *lease, req *fetch.Request, p path) (*fetch.Response, error) {
	resp, t, err := d.respond(ctx, l.Session, req, p)
	if err != nil {
		return nil, err
	}
	if t == nil {
		l.End(true)
		return resp, nil
	}
	resp.Body = newBody(ctx, l, t)
	if resp.Size >= 0 {
		resp.Body.(*body).untilSize = resp.Size - resp.Offset
	}
	return resp, nil
}

// respond sends the commands of a request. It returns the response and the
// transfer that delivers its data. The transfer is nil if the response has no
// data.
func (d *driver) respond(ctx context.Context, s *session, req *fetch.Request, p path) (*fetch.Response, *transfer, error) {
	resp := &fetch.Response{
		URL:   req.URL,
		Kind:  fetch.Document,
		Size:  -1,
		Proto: "FTP",
		Body:  http.NoBody,
	}
	if s.IsReused() && !s.quiet() {
		s.Break()
		return nil, nil, sessions.ErrStale
	}
	if s.port.requestedEarly() && !d.usesPort(s, req, p) {
		if err := s.discardPort(); err != nil {
			return nil, nil, err
		}
	}
	if p.list {
		t, err := d.list(ctx, s, req, p, resp)
		return resp, t, err
	}
	t, err := d.file(ctx, s, req, p, resp)
	return resp, t, err
}
