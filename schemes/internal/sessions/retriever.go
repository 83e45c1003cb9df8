package sessions

import (
	"cmp"
	"context"

	"github.com/anyurl/fetch/fetch"
)

// A Retriever performs one request on a session of a [Pool]. It takes an idle
// session or opens a new one, and requests a missing credential from the user.
type Retriever[S connSession] struct {
	Pool    *Pool[S]
	Env     fetch.Env
	Request *fetch.Request
	Target  fetch.Target

	// Auth is the user of the session, or nil. Properties lists other
	// properties of the session. Both are a part of its key, see [Key].
	Auth       *fetch.Credential
	Properties []string

	// TLS means that TLS starts with the first byte.
	TLS bool

	// Prompt means that the server decides whether a request needs a
	// credential. Do then requests a missing password before the request, and
	// a credential after the server has rejected an anonymous request. User is
	// the suggested user name, or "".
	Prompt bool
	User   string

	// New returns the session of a new connection. Open, which may be nil,
	// then reads the greeting, starts TLS and authenticates as auth. Goodbye is
	// the command that ends the session.
	New     func(*Conn) S
	Open    func(ctx context.Context, s S, auth *fetch.Credential) error
	Goodbye string

	// Dial opens a session. It replaces New and Open, and may be nil.
	Dial func(context.Context) (S, error)
}

// A connSession is a Session that embeds *Conn.
type connSession interface {
	Session
	conn() *Conn
}

// Do calls the function use with a lease of a session, and returns the response.
// The function use must end the lease, for example through the body of the
// response. If the server has closed an idle session, Do calls use again with
// another session.
//
// Do sets the address and the TLS state of the server in the response, unless
// use has set them. A driver that starts TLS on idle sessions must set them
// before it ends the lease.
func (r Retriever[S]) Do(
	ctx context.Context, use func(*Lease[S]) (*fetch.Response, error),
) (resp *fetch.Response, err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if !r.Prompt {
		return r.do(ctx, use)
	}
	challenge := fetch.Challenge{Origin: r.Target.Origin()}
	if r.Auth, err = Complete(ctx, r.Env.Login, r.Auth, challenge); err != nil {
		return nil, err
	}
	resp, err = r.do(ctx, use)
	if fetch.FaultOf(err) != fetch.Auth || r.Auth != nil || !r.Request.Typed() {
		return resp, err
	}
	challenge.User = r.User
	found, failed := Ask(ctx, r.Env.Login, challenge)
	if found == nil || failed != nil {
		return nil, cmp.Or(failed, err)
	}
	r.Auth = found
	return r.do(ctx, use)
}

func (r Retriever[S]) do(
	ctx context.Context, use func(*Lease[S]) (*fetch.Response, error),
) (resp *fetch.Response, err error) {
	key := Key(ctx, r.Env.Net, r.Target, r.Auth, r.Properties...)
	err = r.Pool.Do(ctx, key, r.Request.Trace, func() (S, error) { return r.Connect(ctx) }, func(l *Lease[S]) error {
		if resp, err = use(l); err == nil && !resp.Peer.IsValid() {
			c := l.Session.conn()
			resp.Peer, resp.TLS = fetch.PeerOf(c.NetConn), c.TLS
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// Connect opens a new session.
func (r Retriever[S]) Connect(ctx context.Context) (s S, err error) {
	if r.Dial != nil {
		return r.Dial(ctx)
	}
	netConn, err := r.Env.Net.DialContext(ctx, "tcp", r.Target.Address())
	if err != nil {
		return s, err
	}
	s = r.New(NewConn(netConn, r.Request.Trace, r.Goodbye))
	return Start(ctx, s, func() error {
		if r.TLS {
			if err := s.conn().Encrypt(ctx, r.Env.TLS, r.Target.Host, 0); err != nil {
				return err
			}
		}
		if r.Open == nil {
			return nil
		}
		return r.Open(ctx, s, r.Auth)
	})
}
