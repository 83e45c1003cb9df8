package wais

import (
	"context"
	"strconv"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

type driver struct {
	Options
	env  fetch.Env
	idle sessions.Pool[*session]
}

func newDriver(o Options, env fetch.Env) *driver {
	return &driver{Options: o, env: env, idle: sessions.Pool[*session]{Done: env.Done}}
}

// Do implements fetch.Driver.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	switch {
	case l.search != nil:
		return d.search(ctx, req, l)
	case l.document == nil && req.Op == fetch.Get:
		return nil, needQuery()
	case l.document == nil:
		return d.describe(ctx, req, l)
	}
	return d.retrieve(ctx, req, l)
}

// A lease gives one request the exclusive use of a session.
type lease = sessions.Lease[*session]

// exchange calls the function first, which performs the first exchange of req,
// with a leased session. The session allows responses of up to size bytes.
func (d *driver) exchange(ctx context.Context, req *fetch.Request, size uint32, first func(*lease) error) error {
	t, err := fetch.TargetOf(req.URL, port)
	if err != nil {
		return err
	}
	key := sessions.Key(ctx, d.env.Net, t, nil, strconv.FormatUint(uint64(size), 10))
	return d.idle.Do(ctx, key, req.Trace, func() (*session, error) {
		conn, err := d.env.Net.DialContext(ctx, "tcp", t.Address())
		if err != nil {
			return nil, err
		}
		s := newSession(conn, req.Trace)
		return sessions.Start(ctx, s, func() error { return s.init(size) })
	}, first)
}
