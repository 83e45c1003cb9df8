package http

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/coding"
	"github.com/anyurl/fetch/internal/http1"
	"github.com/anyurl/fetch/internal/httpauth"
	"github.com/anyurl/fetch/uri"
)

// An ask is one request, before a connection is chosen for it.
type ask struct {
	method  string
	target  fetch.Target
	origin  fetch.Origin // of the URL; not that of target at a gateway
	address string       // host:port of target
	host    string       // the Host field
	path    string       // as on the request line, never empty
	query   string       // with its "?", or ""
	shown   string       // the path without its secret, or ""
	header  fetch.Header

	ranged bool // a Range field of ours is among them
	any    bool // the caller wrote a Range field: what comes back is his affair
	coded  bool // codings were asked for, to be taken off
	old    bool // has fields that HTTP/2 forbids

	answer
	proxyField string // the answer to the proxy's challenge
}

// newAsk writes the request for req. It touches nothing but its arguments.
func newAsk(req *fetch.Request, port uint16, opts *Options) (*ask, error) {
	t, err := fetch.TargetOf(req.URL, port)
	if err != nil {
		return nil, err
	}
	if t.Host == "" {
		return nil, fetch.BadURL.Errorf("no host")
	}
	address := t.Address()
	a := &ask{method: http.MethodGet, target: t, origin: t.Origin(), address: address, host: hostField(t, address, port)}
	if host := req.URL.Host(); !t.Addr.IsValid() && host != t.Host {
		a.host = host + strings.TrimPrefix(a.host, t.Host) // its case is the user's
	}
	if err := a.setPath(req.URL, opts); err != nil {
		return nil, err
	}
	return a, a.addHeader(req, opts)
}

func (a *ask) addHeader(req *fetch.Request, opts *Options) error {
	if req.Op == fetch.Stat {
		a.method = http.MethodHead
	}
	a.header = make(fetch.Header, 0, 4)
	a.add("User-Agent", cmp.Or(opts.UserAgent, "fetch"))
	a.add("Accept", "*/*")
	if opts.Compressed && req.Range.IsZero() { // a part of a coded object is of no use
		a.coded = true
		a.add("Accept-Encoding", coding.Known)
	}
	a.addConditions(req)
	a.addCredential(req.Auth, opts.Auth)
	a.override(req)
	return a.validate()
}

// hostField is the authority without zone and default port: RFC 9110 7.2.
// Address is that of t.
func hostField(t fetch.Target, address string, port uint16) string {
	if t.Addr.Zone() != "" {
		t.Host = t.Addr.WithZone("").String()
		address = t.Address()
	}
	if t.Port == port {
		return address[:strings.LastIndexByte(address, ':')]
	}
	return address
}

func (a *ask) setPath(u uri.URI, opts *Options) error {
	if !opts.PathAsIs && strings.Contains(u.Path(), "/.") {
		flat, err := u.Resolve(u) // a URI against itself only loses its dot segments
		if err != nil {
			return fetch.BadURL.With(err)
		}
		u = flat
	}
	a.path = cmp.Or(u.Path(), "/")
	if q, ok := u.Query(); ok {
		a.query = "?" + q
	}
	return nil
}

func (a *ask) add(name, value string) {
	a.header = append(a.header, fetch.Field{Name: name, Value: value})
}

func (a *ask) addConditions(req *fetch.Request) {
	if !req.Range.IsZero() {
		a.ranged = true
		a.add("Range", rangeField(req.Range))
		if req.IfSame != "" {
			a.add("If-Range", req.IfSame)
		}
	}
	switch {
	case isTag(req.IfNot):
		a.add("If-None-Match", req.IfNot)
	case req.IfNot != "":
		a.add("If-Modified-Since", req.IfNot)
	}
	if !req.Since.IsZero() && (req.IfNot == "" || isTag(req.IfNot)) {
		a.add("If-Modified-Since", req.Since.UTC().Format(http.TimeFormat))
	}
	if !req.Before.IsZero() {
		a.add("If-Unmodified-Since", req.Before.UTC().Format(http.TimeFormat))
	}
}

// isTag tells an entity tag from a date, the two forms of a validator.
func isTag(validator string) bool {
	return strings.HasPrefix(validator, `"`) || strings.HasPrefix(validator, "W/") || validator == "*"
}

// addCredential proves the user before the server asks, where mode says so.
func (a *ask) addCredential(c *fetch.Credential, mode Auth) {
	switch {
	case c == nil:
	case c.Token != "":
		a.add("Authorization", "Bearer "+c.Token.Reveal())
	case mode == Basic && (c.User != "" || c.Password != ""):
		a.add("Authorization", httpauth.BasicField(loginOf(c)))
	}
}

// override puts the fields of the caller in the place of ours. One of ours
// that he gives without a value is not sent.
func (a *ask) override(req *fetch.Request) {
	if len(req.Header) == 0 {
		return
	}
	ours, host := a.header, ""
	a.header = ours.Without(func(name string) bool { return has(req.Header, name) })
	for _, f := range req.Header {
		switch name := strings.ToLower(f.Name); name {
		case "host":
			if f.Value == "" {
				req.Trace.Notef("a request without Host is none: field kept")
				continue
			}
			if host == "" {
				a.host, host = f.Value, f.Value // as with any field that stands once: the first
			}
			continue
		case "content-length", "transfer-encoding", "trailer":
			req.Trace.Notef("%s not sent: the request has no body", name)
			continue
		case "range":
			a.ranged, a.any = false, true
		case "referer":
			var ok bool
			if f.Value, ok = referer(f.Value); !ok {
				req.Trace.Notef("Referer not sent: it may contain a login, and it is not SCHEME://HOST/PATH")
				continue
			}
		case "connection", "upgrade", "te", "keep-alive", "proxy-connection", "http2-settings":
			a.old = true
		}
		if f.Value != "" || !has(ours, f.Name) {
			a.header = append(a.header, f)
		}
	}
}

func has(h fetch.Header, name string) bool {
	return slices.ContainsFunc(h, func(f fetch.Field) bool { return f.Is(name) })
}

// validate refuses what would end a line early: RFC 9110 5.5.
func (a *ask) validate() error {
	if !httpguts.ValidHostHeader(a.host) || strings.ContainsAny(a.host, " \t") {
		return fetch.Usage.Errorf("header field Host: invalid value")
	}
	return validFields(a.header)
}

// validFields returns an error for the first field of h that would end its
// line early.
func validFields(h fetch.Header) error {
	for _, f := range h {
		if !http1.ValidName(f.Name) {
			return fetch.Usage.Errorf("header field %q: invalid name", f.Name)
		}
		if http1.HasControl(f.Value) {
			return fetch.Usage.Errorf("header field %s: control character in value", f.Name)
		}
	}
	return nil
}

// place is where a's cookies come from and go to: as in curl, the host that
// the Host field names.
func (a *ask) place() place {
	p := place{host: a.target.Origin().Host, path: a.path, secure: a.target.Scheme == "https"}
	if u, err := uri.Parse("http://" + a.host + "/"); err == nil {
		if t, err := fetch.TargetOf(u, 80); err == nil {
			p.host = t.Origin().Host
		}
	}
	return p
}

// whole is a without its range: the same object from its beginning.
func (a *ask) whole() *ask {
	b := *a
	b.ranged = false
	b.header = a.header.Without(func(name string) bool {
		return strings.EqualFold(name, "Range") || strings.EqualFold(name, "If-Range")
	})
	return &b
}

// headRefused reports whether code says that the server does not implement HEAD or
// does not allow it: RFC 9110 15.6.2 and 15.5.6.
func (a *ask) headRefused(code int) bool {
	return a.method == http.MethodHead && (code == http.StatusNotImplemented || code == http.StatusMethodNotAllowed)
}

// asGet returns a with GET in place of HEAD. A digest covers the method, so the
// challenge is answered a second time.
func (a *ask) asGet() *ask {
	b := *a
	b.method, b.proxied, b.proxyField = http.MethodGet, false, ""
	if c := b.credential; c != nil && b.to.Scheme != "" {
		if field, err := b.to.Answer(loginOf(c), b.method, b.path+b.query, 2); err == nil {
			b.replace("Authorization", field)
		}
	}
	return &b
}
