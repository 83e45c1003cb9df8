package main

import (
	"context"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// personal adds to the requests of a mirror what a person gave for the servers
// that he named, as for a single URL: -u, a netrc, -b and -H. Where links lead
// elsewhere nobody gets any of it but the User-Agent.
func (a *app) personal(seeds []uri.URI) (fetch.Middleware, error) {
	header, err := a.flags.http.fields(a.given)
	if err != nil {
		return nil, err
	}
	p := &personal{app: a, here: header, elsewhere: header.Without(func(name string) bool { return !strings.EqualFold(name, "User-Agent") })}
	for _, u := range seeds {
		if o, ok := originOf(u); ok {
			p.named = append(p.named, o)
		}
	}
	return func(next fetch.Driver) fetch.Driver { return personalDriver{p, next} }, nil
}

type personal struct {
	app             *app
	here, elsewhere fetch.Header
	named           []fetch.Origin
}

type personalDriver struct {
	*personal
	next fetch.Driver
}

func (d personalDriver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	origin, ok := originOf(req.URL)
	req = req.Clone()
	if !ok || !slices.Contains(d.named, origin) {
		req.Header = append(req.Header, d.elsewhere...)
		return d.next.Do(ctx, req)
	}
	req.Header = append(req.Header, d.here...)
	if nobody(req.Auth) && d.app.who != nil {
		c := d.app.who.credential(req)
		if c != nil && req.Auth != nil {
			c.Mechanism = req.Auth.Mechanism
		}
		if c != nil {
			req.Auth = c
		}
		// A mailbox is meant with its messages, whose URLs our own driver made.
		if req.Auth != nil && req.From != nil && req.Scheme().Traits.Mailbox {
			if from, _ := originOf(req.From.URL); from == origin {
				req.From = nil
			}
		}
	}
	return d.next.Do(ctx, req)
}

// nobody reports whether c names no user: imap://;AUTH=PLAIN@HOST/ has only a
// mechanism.
func nobody(c *fetch.Credential) bool { return c == nil || c.User == "" && c.Mechanism != "" }

func originOf(u uri.URI) (fetch.Origin, bool) {
	port, _ := uri.DefaultPort(u.Scheme())
	t, err := fetch.TargetOf(u, port)
	return t.Origin(), err == nil && t.Host != ""
}
