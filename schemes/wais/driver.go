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

// Do implements fetch.Driver.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
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

// request calls the function first, which performs the first exchange of req,
// with a leased session. The session allows responses of up to size bytes.
func (d *driver) request(
	ctx context.Context, req *fetch.Request, size uint32, first func(*lease) (*fetch.Response, error),
) (*fetch.Response, error) {
	t, err := fetch.TargetOf(req.URL, port)
	if err != nil {
		return nil, err
	}
	return sessions.Retriever[*session]{
		Pool: &d.idle, Env: d.env, Request: req, Target: t, Properties: []string{strconv.FormatUint(uint64(size), 10)},
		New:  newSession,
		Open: func(_ context.Context, s *session, _ *fetch.Credential) error { return s.init(size) },
	}.Do(ctx, first)
}
