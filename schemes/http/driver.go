package http

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strings"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

type driver struct {
	env  fetch.Env
	port uint16
	opts *Options
	pool pool
	ask  func(*fetch.Request) (*ask, error)
	gate *proxyTo // where everything goes, or nil

	proofs proofs
}

func newDriver(env fetch.Env, port uint16, opts *Options) *driver {
	d := &driver{env: env, port: port, opts: opts, pool: pool{env: env, opts: opts}}
	d.ask = func(req *fetch.Request) (*ask, error) { return newAsk(req, port, opts) }
	return d
}

// Do carries out req. A second request is sent only where the first brought
// a part that cannot be used.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	a, err := d.ask(req)
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

// try sends a, and again with the answer where the server asks for a login.
func (d *driver) try(ctx context.Context, req *fetch.Request, a *ask) (*fetch.Response, error) {
	for {
		x, err := d.send(ctx, req, d.withCookies(a))
		if err != nil {
			return nil, err
		}
		d.keepCookies(a, x)
		r := &reply{exchange: x, ask: a, req: req, raw: d.opts.Old.Raw, now: d.env.Now()}
		resp, err := r.response()
		if err != nil {
			x.resp.Body.Close()
			x.done()
			return nil, err
		}
		next, err := d.login(ctx, req, a, x)
		if err != nil {
			resp.Body.Close()
			return nil, err
		}
		if next == nil {
			if a.to.Scheme != "" && x.resp.StatusCode != http.StatusUnauthorized {
				d.proofs.keep(a.target.Origin(), a.credential.User, a.to)
			}
			return resp, nil
		}
		drain(resp.Body)
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
	if fields := x.resp.Header.Values("Set-Cookie"); d.opts.Jar != nil && len(fields) > 0 {
		d.opts.Jar.set(fields, a.place(), d.env.Now())
	}
}

// An exchange is one request and its response on a connection.
type exchange struct {
	trace  *fetch.Trace
	noBody bool
	pool   *pool
	via    *proxyTo // nil: none

	resp           *http.Response
	conn           net.Conn // the last that was tried
	head, trailer  []byte   // raw, once the wire is another's; guarded by it
	cut            bool     // the connection ended in the head; guarded by the wire
	tries, interim int
	leaving        sync.Once
}

// send returns when the head of the response is there.
func (d *driver) send(ctx context.Context, req *fetch.Request, a *ask) (*exchange, error) {
	if d.opts.Old != (Old{}) {
		return d.sendOld(ctx, req, a)
	}
	x := &exchange{trace: req.Trace, noBody: a.method == http.MethodHead, pool: &d.pool}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: x.gotConn, Got1xxResponse: x.got1xx})
	key := poolKey{leave: d.env.Net.Key(ctx), old: a.old || d.opts.HTTP1 || listens(req.Trace)}
	var err error
	if x.via, err = d.via(ctx); err != nil {
		return nil, err
	}
	var r *http.Request
	if x.via != nil {
		key.proxy = x.via.key
		r = x.via.request(ctx, a)
	} else if r, err = a.direct(ctx, req.URL.Scheme()); err != nil {
		return nil, err
	}
	d.pool.enter()
	x.resp, err = d.pool.get(key, x.via).RoundTrip(r)
	if err != nil {
		x.done()
		if x.cut && ctx.Err() == nil {
			return nil, fetch.Truncated.Errorf("connection ended in the head of the response")
		}
		return nil, requestFault(ctx, err)
	}
	return x, nil
}

func listens(t *fetch.Trace) bool { return t != nil && (t.Sent != nil || t.Got != nil) }

// direct makes the request for the origin itself. Path and RawPath together
// give the bytes of the URL; Opaque would make another host of "//x/y".
func (a *ask) direct(ctx context.Context, scheme string) (*http.Request, error) {
	path, err := uri.Unescape(a.path)
	if err != nil {
		return nil, fetch.BadURL.With(err)
	}
	query, has := strings.CutPrefix(a.query, "?")
	r := &http.Request{
		Method: a.method,
		URL:    &url.URL{Scheme: scheme, Host: a.target.Address(), Path: path, RawPath: a.path, RawQuery: query, ForceQuery: has && query == ""},
		Host:   a.host,
		Header: toHTTP(a.header),
	}
	if line := r.URL.RequestURI(); line != a.path+a.query || r.URL.Host != net.JoinHostPort(r.URL.Hostname(), r.URL.Port()) {
		return nil, fetch.Internal.Errorf("request line or host is not that of the URL")
	}
	return r.WithContext(ctx), nil
}

// toHTTP keeps names as they are written, but for those that net/http looks
// for.
func toHTTP(h fetch.Header) http.Header {
	out := http.Header{}
	for _, f := range h {
		name := f.Name
		switch canonical := textproto.CanonicalMIMEHeaderKey(name); canonical {
		case "User-Agent", "Connection", "Range":
			name = canonical
		}
		out[name] = append(out[name], f.Value)
	}
	if _, ok := out["User-Agent"]; !ok {
		out["User-Agent"] = []string{""} // else net/http sends its own
	}
	return out
}

// gotConn is called for each connection that the request is tried on.
func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	x.end()
	if x.tries++; x.tries > 1 && x.trace != nil && x.trace.Again != nil {
		x.trace.Again()
	}
	x.conn = info.Conn
	if w, ok := x.conn.(*wire); ok {
		w.bind(x)
	}
}

func (x *exchange) got1xx(int, textproto.MIMEHeader) error {
	if x.interim++; x.interim > maxInterim {
		return fetch.Protocol.Errorf("more than %d interim responses", maxInterim)
	}
	return nil
}

// end lets go of the connection: the trace hears nothing more.
func (x *exchange) end() {
	if w, ok := x.conn.(*wire); ok {
		w.release(x)
	}
}

// done is the end of the exchange.
func (x *exchange) done() {
	x.end()
	x.leaving.Do(x.pool.leave)
}
