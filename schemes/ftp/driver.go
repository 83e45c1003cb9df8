package ftp

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/pool"
)

type driver struct {
	Options
	env      fetch.Env
	port     uint16
	implicit bool // TLS from the first byte
	idle     pool.Pool[*session]
	turns    turns    // of the sessions that are not idle
	found    sync.Map // from the key of a typed request to the login that somebody answered
}

// Do carries out the plan of req, on an idle session of the same user where
// there is one.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	p, err := d.parsePath(req.URL)
	if err != nil {
		return nil, err
	}
	t, err := fetch.TargetOf(req.URL, d.port)
	if err != nil {
		return nil, err
	}
	who, err := d.whoAsks(req.Auth, t.Origin())
	if err != nil {
		return nil, err
	}
	given := d.key(ctx, t, &who)
	key := given
	if found, ok := d.found.Load(given); ok && req.Typed() {
		who = found.(login)
		key = d.key(ctx, t, &who)
	}
	for {
		resp, err := d.reuse(ctx, key, req, p)
		if err != errStale {
			return resp, err
		}
		s, err := d.open(ctx, t, &who, req.Trace)
		if err == nil {
			if key = d.key(ctx, t, &who); key != given && req.Typed() {
				d.found.Store(given, who)
			}
			return d.carry(ctx, s, key, req, p)
		}
		if fetch.FaultOf(err) != fetch.TryLater || !d.turns.wait(ctx, key) {
			return nil, cmp.Or(ctx.Err(), err)
		}
		again(req.Trace)
	}
}

// reuse carries out a request on an idle session. Where none is of use the
// error is errStale.
func (d *driver) reuse(ctx context.Context, key string, req *fetch.Request, p path) (*fetch.Response, error) {
	for {
		s, ok := d.idle.Get(key)
		if !ok {
			return nil, errStale
		}
		s.trace = req.Trace
		resp, err := d.carry(ctx, s, key, req, p)
		if err != errStale {
			return resp, err
		}
		again(req.Trace)
	}
}

// again has t forget what it heard.
func again(t *fetch.Trace) {
	if t != nil && t.Again != nil {
		t.Again()
	}
}

// key says who may share a session.
func (d *driver) key(ctx context.Context, t fetch.Target, who *login) string {
	return strings.Join([]string{
		d.env.Net.Key(ctx), t.Address(), who.User, who.Password.Reveal(), who.Account.Reveal(),
	}, "\x00")
}

// keep gives a session back.
func (d *driver) keep(key string, s *session) {
	defer d.turns.end(key)
	s.trace = nil
	if s.broken {
		s.Close()
		return
	}
	s.reused = true
	d.idle.Put(key, s)
}

// errStale says that a session from the pool was of no use: it had died, or
// cannot come where it is wanted. Nothing was asked of it that counts.
var errStale = errors.New("stale session")

// carry carries out a request on a session. The body of the response, or else
// carry itself, gives the session back.
func (d *driver) carry(ctx context.Context, s *session, key string, req *fetch.Request, p path) (*fetch.Response, error) {
	d.turns.begin(key)
	release := context.AfterFunc(ctx, s.abort)
	resp, t, err := d.answer(ctx, s, req, p)
	if !release() {
		s.broken = true
	}
	if t == nil {
		if errors.Is(err, errNoWay) || s.reused && s.broken && ctx.Err() == nil {
			s.broken = true
			err = errStale
		}
		d.keep(key, s)
		return resp, err
	}
	resp.Body = d.newBody(ctx, s, key, t)
	if resp.Size >= 0 {
		resp.Body.(*body).due = resp.Size - resp.Offset
	}
	return resp, nil
}

// answer does the talking. Without a transfer the response is complete.
func (d *driver) answer(ctx context.Context, s *session, req *fetch.Request, p path) (*fetch.Response, *transfer, error) {
	resp := &fetch.Response{
		URL:   req.URL,
		Kind:  fetch.Document,
		Size:  -1,
		Proto: "FTP",
		Peer:  fetch.PeerOf(s.door),
		TLS:   s.secure,
		Body:  io.NopCloser(strings.NewReader("")),
	}
	if s.reused && !s.quiet() {
		s.broken = true
		return nil, nil, errStale
	}
	if s.ahead && !d.goesOn(s, req, p) {
		if err := s.settle(); err != nil {
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
