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
type wireRequest struct {
	method       string
	target       fetch.Target
	origin       fetch.Origin // of the URL; not that of target at a gateway
	address      string       // host:port of target
	host         string       // the Host field
	path         string       // as on the request line, never empty
	query        string       // with its "?", or ""
	redactedPath string       // the path without its secret, or ""
	header       fetch.Header

	hasRange    bool // a Range field of ours is among them
	callerRange bool // the caller wrote a Range field: what comes back is his affair
	decodes     bool // codings were asked for, to be taken off
	http1Only   bool // has fields that HTTP/2 forbids

	authState
	proxyAuth string // the answer to the proxy's challenge
}

// newAsk writes the request for req. It touches nothing but its arguments.
func newWireRequest(req *fetch.Request, port uint16, opts *Options) (*wireRequest, error) {
	t, err := fetch.TargetOf(req.URL, port)
	if err != nil {
		return nil, err
	}
	if t.Host == "" {
		return nil, fetch.BadURL.Errorf("no host")
	}
	address := t.Address()
	wr := &wireRequest{method: http.MethodGet, target: t, origin: t.Origin(), address: address, host: hostField(t, address, port)}
	if host := req.URL.Host(); !t.Addr.IsValid() && host != t.Host {
		wr.host = host + strings.TrimPrefix(wr.host, t.Host) // its case is the user's
	}
	if err := wr.setPath(req.URL, opts); err != nil {
		return nil, err
	}
	return wr, wr.addHeader(req, opts)
}

func (wr *wireRequest) addHeader(req *fetch.Request, opts *Options) error {
	if req.Op == fetch.Stat {
		wr.method = http.MethodHead
	}
	wr.header = make(fetch.Header, 0, 4)
	wr.addField("User-Agent", cmp.Or(opts.UserAgent, "fetch"))
	wr.addField("Accept", "*/*")
	if opts.Compressed && req.Range.IsZero() { // a part of a coded object is of no use
		wr.decodes = true
		wr.addField("Accept-Encoding", coding.Supported)
	}
	wr.addConditions(req)
	wr.addCredential(req.Auth, opts.Auth)
	wr.applyCallerHeader(req)
	return wr.validate()
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

func (wr *wireRequest) setPath(u uri.URI, opts *Options) error {
	if !opts.PathAsIs && strings.Contains(u.Path(), "/.") {
		flat, err := u.Resolve(u) // a URI against itself only loses its dot segments
		if err != nil {
			return fetch.BadURL.With(err)
		}
		u = flat
	}
	wr.path = cmp.Or(u.Path(), "/")
	if q, ok := u.Query(); ok {
		wr.query = "?" + q
	}
	return nil
}

func (wr *wireRequest) addField(name, value string) {
	wr.header = append(wr.header, fetch.Field{Name: name, Value: value})
}

func (wr *wireRequest) addConditions(req *fetch.Request) {
	if !req.Range.IsZero() {
		wr.hasRange = true
		wr.addField("Range", rangeField(req.Range))
		if req.IfSame != "" {
			wr.addField("If-Range", req.IfSame)
		}
	}
	switch {
	case isTag(req.IfNot):
		wr.addField("If-None-Match", req.IfNot)
	case req.IfNot != "":
		wr.addField("If-Modified-Since", req.IfNot)
	}
	if !req.Since.IsZero() && (req.IfNot == "" || isTag(req.IfNot)) {
		wr.addField("If-Modified-Since", req.Since.UTC().Format(http.TimeFormat))
	}
	if !req.Before.IsZero() {
		wr.addField("If-Unmodified-Since", req.Before.UTC().Format(http.TimeFormat))
	}
}

// isTag tells an entity tag from a date, the two forms of a validator.
func isTag(validator string) bool {
	return strings.HasPrefix(validator, `"`) || strings.HasPrefix(validator, "W/") || validator == "*"
}

// addCredential proves the user before the server asks, where mode says so.
func (wr *wireRequest) addCredential(c *fetch.Credential, mode Auth) {
	switch {
	case c == nil:
	case c.Token != "":
		wr.addField("Authorization", "Bearer "+c.Token.Reveal())
	case mode == Basic && (c.User != "" || c.Password != ""):
		wr.addField("Authorization", httpauth.BasicField(loginOf(c)))
	}
}

// override puts the fields of the caller in the place of ours. One of ours
// that he gives without a value is not sent.
func (wr *wireRequest) applyCallerHeader(req *fetch.Request) {
	if len(req.Header) == 0 {
		return
	}
	ours, host := wr.header, ""
	wr.header = ours.Without(func(name string) bool { return hasField(req.Header, name) })
	for _, f := range req.Header {
		switch name := strings.ToLower(f.Name); name {
		case "host":
			if f.Value == "" {
				req.Trace.Notef("a request without Host is none: field kept")
				continue
			}
			if host == "" {
				wr.host, host = f.Value, f.Value // as with any field that stands once: the first
			}
			continue
		case "content-length", "transfer-encoding", "trailer":
			req.Trace.Notef("%s not sent: the request has no body", name)
			continue
		case "range":
			wr.hasRange, wr.callerRange = false, true
		case "referer":
			var ok bool
			if f.Value, ok = referer(f.Value); !ok {
				req.Trace.Notef("Referer not sent: it may contain a login, and it is not SCHEME://HOST/PATH")
				continue
			}
		case "connection", "upgrade", "te", "keep-alive", "proxy-connection", "http2-settings":
			wr.http1Only = true
		}
		if f.Value != "" || !hasField(ours, f.Name) {
			wr.header = append(wr.header, f)
		}
	}
}

func hasField(h fetch.Header, name string) bool {
	return slices.ContainsFunc(h, func(f fetch.Field) bool { return f.Is(name) })
}

// validate refuses what would end a line early: RFC 9110 5.5.
func (wr *wireRequest) validate() error {
	if !httpguts.ValidHostHeader(wr.host) || strings.ContainsAny(wr.host, " \t") {
		return fetch.Usage.Errorf("header field Host: invalid value")
	}
	return validateFields(wr.header)
}

// validFields returns an error for the first field of h that would end its
// line early.
func validateFields(h fetch.Header) error {
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
func (wr *wireRequest) cookieContext() cookieContext {
	p := cookieContext{host: wr.target.Origin().Host, path: wr.path, secure: wr.target.Scheme == "https"}
	if u, err := uri.Parse("http://" + wr.host + "/"); err == nil {
		if t, err := fetch.TargetOf(u, 80); err == nil {
			p.host = t.Origin().Host
		}
	}
	return p
}

// whole is a without its range: the same object from its beginning.
func (wr *wireRequest) withoutRange() *wireRequest {
	next := *wr
	next.hasRange = false
	next.header = wr.header.Without(func(name string) bool {
		return strings.EqualFold(name, "Range") || strings.EqualFold(name, "If-Range")
	})
	return &next
}

// headRefused reports whether code says that the server does not implement HEAD or
// does not allow it: RFC 9110 15.6.2 and 15.5.6.
func (wr *wireRequest) headUnsupported(code int) bool {
	return wr.method == http.MethodHead && (code == http.StatusNotImplemented || code == http.StatusMethodNotAllowed)
}

// asGet returns a with GET in place of HEAD. A digest covers the method, so the
// challenge is answered a second time.
func (wr *wireRequest) asGet() *wireRequest {
	next := *wr
	next.method, next.proxyAnswered, next.proxyAuth = http.MethodGet, false, ""
	if c := next.credential; c != nil && next.challenge.Scheme != "" {
		if field, err := next.challenge.Answer(loginOf(c), next.method, next.path+next.query, 2); err == nil {
			next.setField("Authorization", field)
		}
	}
	return &next
}
