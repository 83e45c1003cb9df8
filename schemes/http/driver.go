package http

import (
	"context"
	"errors"
	"net/http"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/sessions"
)

type driver struct {
	env        fetch.Env
	port       uint16
	opts       *Options
	idle       sessions.Pool[*conn] // of HTTP/1
	h2         h2
	newRequest func(context.Context, *fetch.Request) (*wireRequest, error)
	gateway    *proxyRoute // where everything goes, or nil

	challenges challengeCache
}

func newDriver(env fetch.Env, port uint16, opts *Options) *driver {
	d := &driver{env: env, port: port, opts: opts}
	d.idle = sessions.Pool[*conn]{MaxIdlePerKey: maxIdle, MaxIdle: maxAllIdle, Done: env.Done}
	d.h2 = h2{env: env, idle: &d.idle}
	d.newRequest = func(_ context.Context, req *fetch.Request) (*wireRequest, error) {
		return newWireRequest(req, port, opts)
	}
	return d
}

// Do carries out req. A second request is sent only where the first brought
// a part that cannot be used.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	wr, err := d.newRequest(ctx, req)
	if err != nil {
		return nil, err
	}
	d.preauthenticate(req, wr)
	resp, err := d.roundTrip(ctx, req, wr)
	if errors.Is(err, errObjectChanged) {
		req.Trace.Notef("the object has changed: sent from its beginning")
		resp, err = d.roundTrip(ctx, req, wr.withoutRange())
	}
	return resp, err
}

// try sends a. It sends it again where the server asks for a login, or does not
// know HEAD.
func (d *driver) roundTrip(ctx context.Context, req *fetch.Request, wr *wireRequest) (*fetch.Response, error) {
	for {
		x, err := d.send(ctx, req, d.addCookies(wr))
		if err != nil {
			return nil, err
		}
		d.storeCookies(wr, x)
		if wr.headUnsupported(x.code) {
			x.body.Close()
			req.Trace.Notef("server does not answer HEAD: a GET that ends behind the head")
			req.Trace.Restarted()
			wr = wr.asGet()
			continue
		}
		r := &responseBuilder{exchange: x, wire: wr, req: req, raw: d.opts.Legacy.Raw, limit: d.env.MaxBody, now: d.env.Now()}
		resp, err := r.response()
		if err != nil {
			x.body.Close()
			return nil, err
		}
		next, err := d.authenticate(ctx, req, wr, x)
		if err != nil {
			resp.Body.Close()
			return nil, err
		}
		if next == nil {
			if wr.challenge.Scheme != "" && x.code != http.StatusUnauthorized {
				d.challenges.store(wr.target.Origin(), wr.credential.User, wr.challenge)
			}
			return resp, nil
		}
		drain(resp.Body)
		req.Trace.Restarted()
		wr = next
	}
}

// withCookies adds those of the jar in front of the caller's own.
func (d *driver) addCookies(wr *wireRequest) *wireRequest {
	if d.opts.Jar == nil {
		return wr
	}
	field := d.opts.Jar.cookieField(wr.cookieContext(), d.env.Now())
	if field == "" {
		return wr
	}
	if own := wr.header.Get("Cookie"); own != "" {
		field += "; " + own
	}
	next := *wr
	next.setField("Cookie", field)
	return &next
}

func (d *driver) storeCookies(wr *wireRequest, x *exchange) {
	if d.opts.Jar == nil {
		return
	}
	if fields := x.header.Values("Set-Cookie"); len(fields) > 0 {
		d.opts.Jar.setCookies(fields, wr.cookieContext(), d.env.Now())
	}
}
