package ldap

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
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

// A lease gives one request the exclusive use of a session.
type lease = sessions.Lease[*session]

// usesStartTLS reports whether sessions for URLs of a scheme use StartTLS.
func (o Options) usesStartTLS(name string) bool {
	return name != "ldaps" && (o.TLS == scheme.TLSWanted || o.TLS == scheme.TLSRequired)
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
	resp := &fetch.Response{Kind: fetch.Document, Media: media, Size: -1, Proto: proto, Body: io.NopCloser(strings.NewReader(""))}
	if l.isListing() {
		resp.Kind, resp.Media = fetch.Menu, media+"; scope="+scopes[l.scope]
	}
	err = d.login(ctx, req, l, func(lease *lease) error {
		e := &search{locator: l, lease: lease, req: req}
		if err := e.start(resp); err != nil {
			return err
		}
		s := lease.Session
		resp.Peer, resp.TLS = fetch.PeerOf(s.NetConn), s.TLS
		switch {
		case !resp.Location.IsZero():
			lease.End(true)
		case req.Op == fetch.Stat:
			lease.End(e.done)
		default:
			resp.Body = lease.Body(e, sessions.TruncatedFault)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// login calls the function use with a leased session. If the server requires
// authentication, login requests a credential from env.Login once, and calls
// use again.
func (d *driver) login(ctx context.Context, req *fetch.Request, l locator, use func(*lease) error) error {
	auth := req.Auth
	if auth != nil && auth.User == "" && l.bindName != "" {
		named := *auth
		named.User, auth = l.bindName, &named
	}
	t, err := fetch.TargetOf(req.URL, d.port(req))
	if err != nil {
		return err
	}
	if auth, err = sessions.Complete(ctx, d.env.Login, auth, fetch.Challenge{Origin: t.Origin()}); err != nil {
		return err
	}
	err = d.exchange(ctx, req, auth, use)
	if fetch.FaultOf(err) != fetch.Auth || auth != nil || d.env.Login == nil || !req.Typed() {
		return err
	}
	found, loginErr := d.env.Login(ctx, fetch.Challenge{Origin: t.Origin(), User: l.bindName, Typed: true})
	if found == nil || loginErr != nil {
		return cmp.Or(loginErr, err)
	}
	return d.exchange(ctx, req, found, use)
}

// port returns the default port of a request.
func (d *driver) port(req *fetch.Request) uint16 {
	if req.URL.Scheme() == "ldaps" {
		return securePort
	}
	return port
}

// exchange calls the function use with a lease of a session that is
// authenticated as auth. The function use ends the lease.
func (d *driver) exchange(ctx context.Context, req *fetch.Request, auth *fetch.Credential, use func(*lease) error) error {
	t, err := fetch.TargetOf(req.URL, d.port(req))
	if err != nil {
		return err
	}
	if auth != nil && (auth.User == "" || auth.Password == "") {
		auth = nil // an empty password would be a login without authentication (RFC 4513 5.1.2)
	}
	key := sessions.Key(ctx, d.env.Net, t, auth, req.URL.Scheme())
	return d.idle.Do(ctx, key, req.Trace, func() (*session, error) {
		conn, err := d.env.Net.DialContext(ctx, "tcp", t.Address())
		if err != nil {
			return nil, err
		}
		s := newSession(conn, req.Trace)
		return sessions.Start(ctx, s, func() error { return d.open(ctx, s, t, auth) })
	}, use)
}

// open prepares a new session: it starts TLS if required, and logs in.
func (d *driver) open(ctx context.Context, s *session, t fetch.Target, auth *fetch.Credential) (err error) {
	switch {
	case t.Scheme == "ldaps":
		err = s.Encrypt(ctx, d.env.TLS, t.Host, 0)
	case d.usesStartTLS(t.Scheme):
		err = s.startTLS(ctx, d.env, t.Host, d.TLS)
	}
	if err == nil && auth != nil {
		err = s.bind(auth)
	}
	return err
}

// plan returns the operations for one connection, in order. A pooled connection
// skips "starttls" and "bind".
func (o Options) plan(req *fetch.Request) (steps []scheme.Step, err error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	if o.usesStartTLS(req.URL.Scheme()) {
		steps = append(steps, scheme.Step{Verb: "starttls"})
	}
	if a := req.Auth; a != nil && cmp.Or(a.User, l.bindName) != "" && a.Password != "" {
		steps = append(steps, scheme.Step{Verb: "bind", Arg: cmp.Or(a.User, l.bindName)})
	}
	filter := cmp.Or(l.filterText, defaultFilter)
	parts := slices.Concat([]string{scopes[l.scope], `"` + l.dn + `"`, filter}, l.requested(req))
	return append(steps, scheme.Step{Verb: "search", Arg: strings.Join(parts, " ")}), nil
}

// requested returns the attributes that a search requests. If the result is nil,
// the server sends all user attributes.
func (l locator) requested(req *fetch.Request) []string {
	switch {
	case req.Op == fetch.Stat:
		return []string{"1.1"} // no attributes
	case l.attributes == nil && l.dn == "" && l.scope == base:
		return []string{"*", "+"}
	}
	return l.attributes
}
