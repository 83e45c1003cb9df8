package ldap

import (
	"cmp"
	"context"
	"net/http"
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

// A lease gives one request the exclusive use of a session.
type lease = sessions.Lease[*session]

// usesStartTLS reports whether sessions for URLs of a scheme use StartTLS.
func (o Options) usesStartTLS(name string) bool {
	return name != "ldaps" && sessions.StartsTLS(o.TLS, scheme.TLSNever, true)
}

// Do implements fetch.Driver.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	resp := &fetch.Response{Kind: fetch.Document, Media: media, Size: -1, Proto: proto, Body: http.NoBody}
	if l.isListing() {
		resp.Kind, resp.Media = fetch.Menu, media+"; scope="+scopes[l.scope]
	}
	auth := req.Auth
	if auth != nil && auth.User == "" && l.bindName != "" {
		named := *auth
		named.User, auth = l.bindName, &named
	}
	t, err := fetch.TargetOf(req.URL, d.port(req))
	if err != nil {
		return nil, err
	}
	return sessions.Retriever[*session]{
		Pool: &d.idle, Env: d.env, Request: req, Target: t, Auth: auth, Properties: []string{t.Scheme},
		TLS: t.Scheme == "ldaps", Prompt: true, User: l.bindName,
		New: newSession, Goodbye: goodbye,
		Open: func(ctx context.Context, s *session, auth *fetch.Credential) error { return d.open(ctx, s, t, auth) },
	}.Do(ctx, func(lease *lease) (*fetch.Response, error) {
		e := &search{locator: l, lease: lease, req: req}
		if err := e.start(resp); err != nil {
			return nil, err
		}
		switch {
		case !resp.Location.IsZero():
			lease.End(true)
		case req.Op == fetch.Stat:
			lease.End(e.done)
		default:
			resp.Body = lease.Body(e, sessions.TruncatedFault)
		}
		return resp, nil
	})
}

// port returns the default port of a request.
func (d *driver) port(req *fetch.Request) uint16 {
	if req.URL.Scheme() == "ldaps" {
		return securePort
	}
	return port
}

// open prepares a new session: it starts TLS if required, and logs in. Without a
// name or a password, the server would accept the login without authentication
// (RFC 4513 5.1.2).
func (d *driver) open(ctx context.Context, s *session, t fetch.Target, auth *fetch.Credential) (err error) {
	if d.usesStartTLS(t.Scheme) {
		err = s.startTLS(ctx, d.env, t.Host, d.TLS)
	}
	if err == nil && auth != nil && auth.User != "" && auth.Password != "" {
		if s.TLS == nil {
			s.Trace().Notef("the password was sent in plaintext")
		}
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
