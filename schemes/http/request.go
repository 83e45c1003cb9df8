package http

import (
	"cmp"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/coding"
	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/internal/wire/httpauth"
	"github.com/anyurl/fetch/internal/wire/outgoing"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/uri"
)

// A wireRequest is the HTTP request that is sent for a fetch.Request. It can be
// sent over HTTP/1 or HTTP/2, and with or without a proxy.
type wireRequest struct {
	method       string
	target       fetch.Target
	origin       fetch.Origin // origin of the URL, which differs from target if a gateway is used
	address      string       // host:port of target
	host         string       // value of the Host field
	server       netip.Addr   // address of the server of the URL that a gateway gets in place of a name, or zero
	path         string       // path on the request line, never empty
	query        string       // query with its "?", or ""
	redactedPath string       // path without the password, for requests to a gateway; otherwise ""
	header       fetch.Header

	hasRange    bool // header has a Range field from Request.Range
	callerRange bool // header has a Range field of the caller, so any part is accepted
	decodes     bool // content codings are accepted and decoded
	http1Only   bool // header has fields that HTTP/2 forbids

	outgoing *outgoing.Message // method and body of a request that is passed on, or nil

	authState
	proxyAuth string // Proxy-Authorization value that answers a challenge
}

// newWireRequest converts req to an HTTP request. port is the default port of
// the scheme.
func newWireRequest(req *fetch.Request, port uint16, opts *Options) (*wireRequest, error) {
	t, err := fetch.TargetOf(req.URL, port)
	if err != nil {
		return nil, err
	}
	if t.Host == "" {
		return nil, fetch.BadURL.Errorf("no host")
	}
	address := t.Address()
	wr := &wireRequest{
		method: http.MethodGet, target: t, origin: t.Origin(), address: address,
		host: hostField(t, address, port),
	}
	if host := req.URL.Host(); !t.Addr.IsValid() && host != t.Host {
		wr.host = host + strings.TrimPrefix(wr.host, t.Host) // keeps upper-case letters of the URL
	}
	if err := wr.setPath(req.URL, opts.PathAsIs || req.Outgoing != nil); err != nil {
		return nil, err
	}
	if req.Outgoing != nil {
		return wr, wr.setOutgoing(req)
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
	keeps := opts.KeepCompressed && media.IsCompressed("", wr.path)
	if opts.Compressed && !keeps && req.Range.IsZero() { // a part of an encoded object cannot be decoded
		wr.decodes = true
		wr.addField("Accept-Encoding", coding.Supported)
	}
	wr.addConditions(req)
	wr.addCredential(req.Auth, opts.Auth)
	wr.applyCallerHeader(req)
	return wr.validate()
}

// hostField returns the value of the Host field for the server t (RFC 9110
// 7.2). It omits the default port and the zone of an IPv6 address. address must
// be t.Address().
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

func (wr *wireRequest) setPath(u uri.URI, asIs bool) error {
	if !asIs && strings.Contains(u.Path(), "/.") {
		flat, err := u.Resolve(u) // resolving a URI against itself removes dot segments
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

// isTag reports whether validator is an entity tag. Otherwise the validator is
// a date.
func isTag(validator string) bool {
	return strings.HasPrefix(validator, `"`) || strings.HasPrefix(validator, "W/") || validator == "*"
}

// addCredential adds an Authorization field for a bearer token. If mode is
// Basic, it also adds the field for a user name and a password.
func (wr *wireRequest) addCredential(c *fetch.Credential, mode Auth) {
	switch {
	case c == nil, sessions.LacksPassword(c):
	case c.Token != "":
		wr.addField("Authorization", "Bearer "+c.Token.Reveal())
	case mode == Basic && (c.User != "" || c.Password != ""):
		wr.addField("Authorization", httpauth.BasicField(loginOf(c)))
	}
}

// applyCallerHeader replaces default header fields by the fields in req.Header.
// An empty value removes a default field. It is not sent if the request has no
// such field.
func (wr *wireRequest) applyCallerHeader(req *fetch.Request) {
	if len(req.Header) == 0 {
		return
	}
	defaults, host := wr.header, ""
	wr.header = defaults.Without(func(name string) bool { return hasField(req.Header, name) })
	for _, f := range req.Header {
		switch name := strings.ToLower(f.Name); name {
		case "host":
			if f.Value == "" {
				req.Trace.Notef("empty Host field ignored: a request needs a Host")
				continue
			}
			if host == "" {
				wr.host, host = f.Value, f.Value // only the first Host field is used
			}
			continue
		case "content-length", "transfer-encoding", "trailer":
			req.Trace.Notef("%s not sent: the request has no body", name)
			continue
		case "range":
			wr.hasRange, wr.callerRange = false, f.Value != ""
		case "referer":
			var ok bool
			if f.Value, ok = http1.Referer(f.Value); !ok {
				req.Trace.Notef("Referer not sent: its value may contain a login (expected SCHEME://HOST/PATH)")
				continue
			}
		case "connection", "upgrade", "te", "keep-alive", "proxy-connection", "http2-settings":
			wr.http1Only = true
		}
		if f.Value != "" || !hasField(defaults, f.Name) && !isDefaultField(f.Name) {
			wr.header = append(wr.header, f)
		}
	}
}

// isDefaultField reports whether some requests have the named field without a
// field in Request.Header.
func isDefaultField(name string) bool {
	switch strings.ToLower(name) {
	case "accept-encoding", "authorization", "cookie", "range", "referer":
		return true
	}
	return false
}

func hasField(h fetch.Header, name string) bool {
	return slices.ContainsFunc(h, func(f fetch.Field) bool { return f.Is(name) })
}

// validate returns an error if the Host field or another header field is
// invalid (RFC 9110 5.5).
func (wr *wireRequest) validate() error {
	if !httpguts.ValidHostHeader(wr.host) || strings.ContainsAny(wr.host, " \t") {
		return fetch.Usage.Errorf("header field Host: invalid value")
	}
	return validateFields(wr.header)
}

// validateFields returns an error if a field name in h is invalid or a value
// contains a control character.
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

// cookieContext returns the properties of the request that determine its
// cookies: the host, the path, and whether it uses TLS. As in curl, the host
// comes from the Host field.
func (wr *wireRequest) cookieContext() cookieContext {
	p := cookieContext{host: wr.target.Origin().Host, path: wr.path, secure: wr.target.Scheme == "https"}
	if u, err := uri.Parse("http://" + wr.host + "/"); err == nil {
		if t, err := fetch.TargetOf(u, 80); err == nil {
			p.host = t.Origin().Host
		}
	}
	return p
}

// withoutRange returns a copy of the request without a Range field. The copy
// requests the complete object.
func (wr *wireRequest) withoutRange() *wireRequest {
	next := *wr
	next.hasRange = false
	next.header = wr.header.Without(func(name string) bool {
		return strings.EqualFold(name, "Range") || strings.EqualFold(name, "If-Range")
	})
	return &next
}

// headUnsupported reports whether a HEAD request failed because the server does
// not support HEAD. The status code is then 501 or 405. It returns false for a
// request with a signature, which is not valid for GET. S3 sends 405 for a deleted
// version.
func (wr *wireRequest) headUnsupported(code int) bool {
	signed := strings.HasPrefix(wr.header.Get("Authorization"), "AWS4-")
	return wr.method == http.MethodHead && wr.outgoing == nil && !signed && (code == http.StatusNotImplemented || code == http.StatusMethodNotAllowed)
}

// asGet returns a copy of the request with the method GET. It computes the
// Digest credentials again, because they depend on the method. It removes a token
// of Options.Negotiator, which is valid for one request.
func (wr *wireRequest) asGet() *wireRequest {
	next := *wr
	next.method, next.proxyAnswered, next.proxyAuth = http.MethodGet, false, ""
	if c := next.credential; c != nil && next.challenge.Scheme != "" {
		if field, err := next.challenge.Answer(loginOf(c), next.method, next.path+next.query, 2); err == nil {
			next.setField("Authorization", field)
		}
	}
	if next.negotiated {
		next.negotiated = false
		next.header = wr.header.Without(func(name string) bool { return strings.EqualFold(name, "Authorization") })
	}
	return &next
}
