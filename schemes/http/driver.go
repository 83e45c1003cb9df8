package http

import (
	"context"
	"errors"
	"net/http"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/sessions"
)

type driver struct {
	env  fetch.Env
	port uint16
	opts *Options
	idle sessions.Pool[*conn] // of HTTP/1
	h2   h2
	ask  func(context.Context, *fetch.Request) (*ask, error)
	gate *proxyTo // where everything goes, or nil

	proofs proofs
}

func newDriver(env fetch.Env, port uint16, opts *Options) *driver {
	d := &driver{env: env, port: port, opts: opts}
	d.idle = sessions.Pool[*conn]{Max: maxIdle, All: maxAllIdle, Done: env.Done}
	d.h2 = h2{env: env, idle: &d.idle}
	d.ask = func(_ context.Context, req *fetch.Request) (*ask, error) { return newAsk(req, port, opts) }
	return d
}

// Do carries out req. A second request is sent only where the first brought
// a part that cannot be used.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	a, err := d.ask(ctx, req)
	if err != nil {
		return nil, err
	}
	d.proveAgain(req, a)
	resp, err := d.try(ctx, req, a)
	if errors.Is(err, errOther) {
		req.Trace.Notef("the object has changed: sent from its beginning")
		resp, err = d.try(ctx, req, a.whole())
	}
	return resp, err
}

// try sends a. It sends it again where the server asks for a login, or does not
// know HEAD.
func (d *driver) try(ctx context.Context, req *fetch.Request, a *ask) (*fetch.Response, error) {
	for {
		x, err := d.send(ctx, req, d.withCookies(a))
		if err != nil {
			return nil, err
		}
		d.keepCookies(a, x)
		if a.headRefused(x.code) {
			x.body.Close()
			req.Trace.Notef("server does not answer HEAD: a GET that ends behind the head")
			req.Trace.Restarted()
			a = a.asGet()
			continue
		}
		r := &reply{exchange: x, ask: a, req: req, raw: d.opts.Old.Raw, limit: d.env.MaxBody, now: d.env.Now()}
		resp, err := r.response()
		if err != nil {
			x.body.Close()
			return nil, err
		}
		next, err := d.login(ctx, req, a, x)
		if err != nil {
			resp.Body.Close()
			return nil, err
		}
		if next == nil {
			if a.to.Scheme != "" && x.code != http.StatusUnauthorized {
				d.proofs.keep(a.target.Origin(), a.credential.User, a.to)
			}
			return resp, nil
		}
		drain(resp.Body)
		req.Trace.Restarted()
		a = next
	}
}

// withCookies adds those of the jar in front of the caller's own.
func (d *driver) withCookies(a *ask) *ask {
	if d.opts.Jar == nil {
		return a
	}
	field := d.opts.Jar.field(a.place(), d.env.Now())
	if field == "" {
		return a
	}
	if own := a.header.Get("Cookie"); own != "" {
		field += "; " + own
	}
	b := *a
	b.replace("Cookie", field)
	return &b
}

func (d *driver) keepCookies(a *ask, x *exchange) {
	if d.opts.Jar == nil {
		return
	}
	if fields := x.header.Values("Set-Cookie"); len(fields) > 0 {
		d.opts.Jar.set(fields, a.place(), d.env.Now())
	}
}
