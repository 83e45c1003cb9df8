// Package roundtrip lets an http.Client use a fetch.Client as its transport.
// Programs that use net/http can then retrieve URLs of every scheme.
package roundtrip

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A Transport is an [http.RoundTripper] that sends requests with a
// [fetch.Client], under the Policy of this Client. It is safe for concurrent
// use. errors.Is finds the [fetch.Fault] of an error, even if an http.Client
// wrapped the error.
//
// The Policy treats the URL of a request as entered by the user, except in two
// cases:
//   - If http.Client follows a redirect, the redirecting URL is the source. The
//     Response field of the request identifies this case.
//   - If another request has a Referer field, the URL in the field is the source.
//     The Policy rejects the request if the field has no valid URL.
//
// A program that fetches URLs from untrusted sources must therefore give Client
// the [fetch.Public] Policy, or set Referer.
//
// For HTTP, the status, the header and the trailer come from the server. For
// other protocols, the status is 200, or 302 for a redirect. The header has
// Content-Type, Content-Length and Last-Modified if they are known. If such a
// server rejects a request, RoundTrip returns an error.
//
// Client must not use the option Compressed of package schemes/http. This
// option decodes the body but leaves Content-Encoding in the header.
type Transport struct{ Client *fetch.Client }

// sourceKey is the context key under which an http.Response keeps the
// [fetch.Response] from which it was converted. A request that follows a
// redirect needs the fetch.Response.
type sourceKey struct{}

// RoundTrip sends a GET or HEAD request and follows no redirects. For other
// methods, for a request body and for an interactive session, it returns an
// error with the Fault Unsupported.
func (t Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	r, err := newRequest(req)
	if err != nil {
		return nil, err
	}
	resp, err := t.Client.Do(req.Context(), r)
	if err != nil {
		return nil, err
	}
	switch {
	case resp.Input != nil:
		err = fetch.Unsupported.Errorf("%s is an interactive session, which net/http does not support", resp.URL)
	case resp.Fault != nil && !overHTTP(resp):
		err = resp.Fault
	}
	if err != nil {
		resp.Body.Close()
		return nil, err
	}
	return newResponse(req, resp), nil
}

// newRequest converts an http.Request to a fetch.Request.
func newRequest(req *http.Request) (*fetch.Request, error) {
	u, err := uri.FromURL(req.URL)
	if err != nil {
		return nil, fetch.BadURL.With(err)
	}
	r := source(req, u)
	switch req.Method {
	case "", http.MethodGet:
	case http.MethodHead:
		r.Op = fetch.Stat
	default:
		return nil, fetch.Unsupported.Errorf("method %q: only GET and HEAD are supported", req.Method)
	}
	if req.Body != nil && req.Body != http.NoBody {
		return nil, fetch.Unsupported.Errorf("request to %s has a body", u)
	}
	r.NoFollow, r.ErrorBody = true, true
	if req.Host != "" && req.Host != req.URL.Host {
		r.Header = append(r.Header, fetch.Field{Name: "Host", Value: req.Host})
	}
	for name, values := range req.Header {
		for _, v := range values {
			r.Header = append(r.Header, fetch.Field{Name: name, Value: v})
		}
	}
	slices.SortStableFunc(r.Header, func(a, b fetch.Field) int { return cmp.Compare(a.Name, b.Name) })
	return r, nil
}

// source returns a fetch.Request for u. It sets the field From to the document
// that supplied u. The documentation of [Transport] contains the rules.
func source(req *http.Request, u uri.URI) *fetch.Request {
	referer := req.Header.Get("Referer")
	switch before := req.Response; {
	case before != nil && before.Request != nil:
		if from, ok := before.Request.Context().Value(sourceKey{}).(*fetch.Response); ok {
			return from.Request(u)
		}
		from, _ := uri.FromURL(before.Request.URL)
		return &fetch.Request{URL: u, From: &fetch.Source{URL: from}}
	case before != nil || referer != "":
		from, _ := uri.Parse(referer)
		return &fetch.Request{URL: u, From: &fetch.Source{URL: from}}
	}
	return &fetch.Request{URL: u}
}

// setProto sets the protocol version of out. A response of another protocol
// than HTTP gets the version HTTP/1.0.
func setProto(out *http.Response, proto string) {
	for _, name := range []string{proto, proto + ".0", "HTTP/1.0"} { // such as "HTTP/2"
		var ok bool
		if out.ProtoMajor, out.ProtoMinor, ok = http.ParseHTTPVersion(name); ok {
			out.Proto = name
			return
		}
	}
}

// newResponse converts the response to req to an http.Response.
func newResponse(req *http.Request, resp *fetch.Response) *http.Response {
	from := *resp
	from.Body = nil // releases the body, because the context outlives the transfer
	out := &http.Response{
		StatusCode: status(resp), Header: header(resp), ContentLength: length(req, resp),
		TLS: resp.TLS, Request: req.WithContext(context.WithValue(req.Context(), sourceKey{}, &from)),
	}
	out.Status = strings.TrimSpace(strconv.Itoa(out.StatusCode) + " " + http.StatusText(out.StatusCode))
	setProto(out, resp.Proto)
	out.Body = resp.Body
	if resp.Trailer != nil {
		out.Trailer = trailer(resp)
		out.Body = &trailerBody{resp.Body, resp.Trailer, out.Trailer}
	}
	return out
}
