package http

import (
	"context"
	"errors"
	"net/http"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

type driver struct {
	env        fetch.Env
	port       uint16
	opts       *Options
	idle       sessions.Pool[*conn] // idle HTTP/1 connections
	h2         h2
	h3         h3
	newRequest func(context.Context, *fetch.Request) (*wireRequest, error)
	gateway    func(context.Context) (*proxyRoute, error) // nil unless a gateway handles all requests

	challenges challengeCache
}

func newDriver(env fetch.Env, port uint16, opts *Options) *driver {
	d := &driver{env: env, port: port, opts: opts}
	d.idle = sessions.Pool[*conn]{
		MaxIdlePerKey: maxIdle, MaxIdle: maxIdle, Done: env.Done, NoGreeting: true,
		Permits: func(ctx context.Context, c *conn) bool { return env.Net.Permits(ctx, c) },
	}
	d.h2 = h2{env: env, ech: opts.ECH, idle: &d.idle}
	d.h3 = h3{env: env, ech: opts.ECH, transport: opts.HTTP3, tcp: d.h2.connect, pool: h3pool{done: env.Done}}
	d.newRequest = func(_ context.Context, req *fetch.Request) (*wireRequest, error) {
		return newWireRequest(req, port, opts)
	}
	return d
}

// Do sends a request and returns the response. If a partial response belongs to
// another version of the object, Do requests the complete object.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	wr, err := d.newRequest(ctx, req)
	if err != nil {
		return nil, err
	}
	if wr.outgoing == nil {
		d.preauthenticate(req, wr)
	}
	resp, err := d.roundTrip(ctx, req, wr)
	if errors.Is(err, errObjectChanged) {
		req.Trace.Notef("object has changed on the server: fetching it from the beginning")
		req.Trace.Restarted()
		resp, err = d.roundTrip(ctx, req, wr.withoutRange())
	}
	return resp, err
}

// roundTrip sends a request and returns the response. If the server requires
// authentication, it sends the request again with credentials. If the server
// does not support HEAD, it sends a GET request.
func (d *driver) roundTrip(ctx context.Context, req *fetch.Request, wr *wireRequest) (*fetch.Response, error) {
	for {
		x, err := d.send(ctx, req, d.addCookies(wr))
		if err != nil {
			return nil, err
		}
		d.storeCookies(wr, x)
		if wr.headUnsupported(x.code) {
			x.body.Close()
			req.Trace.Notef("server does not support HEAD: sending GET and ignoring the body")
			req.Trace.Restarted()
			wr = wr.asGet()
			continue
		}
		r := &responseBuilder{
			exchange: x, wire: wr, req: req, raw: d.opts.Legacy.Raw, keep: d.opts.KeepCompressed,
			ignoreDigests: d.opts.IgnoreDigests,
			limit:         d.env.Limit, maxBody: d.env.MaxBody, now: d.env.Now(),
		}
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
				d.challenges.store(wr.target.Origin(), wr.credential, wr.challenge)
			}
			return resp, nil
		}
		drain(d.env.Limit(resp.Body))
		req.Trace.Restarted()
		wr = next
	}
}

// addCookies returns a copy of the request with the matching cookies of
// Options.Jar. If the caller has set a Cookie field, its cookies follow those
// of the jar.
func (d *driver) addCookies(wr *wireRequest) *wireRequest {
	if d.opts.Jar == nil || wr.outgoing != nil {
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
	if d.opts.Jar == nil || wr.outgoing != nil {
		return
	}
	if fields := x.header.Values("Set-Cookie"); len(fields) > 0 {
		d.opts.Jar.setCookies(fields, wr.cookieContext(), d.env.Now())
	}
}
