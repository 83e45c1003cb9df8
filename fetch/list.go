package fetch

import (
	"context"
	"iter"

	"github.com/anyurl/fetch/uri"
)

// List returns the entries of the listing at text, a URL that the user typed as
// for [Client.Get]. Each iteration over the sequence sends a new request and
// closes its Body at the end. The first error ends the sequence. The error has
// the Fault Unsupported if the URL names no listing. To fetch an entry, pass
// [Entry.Request] to [Client.Do], because Get would trust its URL like a typed
// one.
func (c *Client) List(ctx context.Context, text string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		resp, err := c.Get(ctx, text)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		resp.Entries()(yield)
	}
}

// Request returns a request for e.URL whose From is the listing that contains
// e. The Policy therefore checks the URL as one that a server supplied. The
// request has the credential of the listing, which the Client sends only to
// the origin of the listing. Other fields of the request for the listing, such
// as Header, are not copied.
//
// The listing is known if e was returned by [Response.Entries] or
// [Client.List]. Otherwise, for example if e was decoded from JSON, From is a
// zero Source. The Policy rejects such a request unless Policy.Redirects
// allows the scheme of e.URL. The caller can set From.
func (e Entry) Request() *Request {
	return e.source.newRequest(e.URL)
}

// Request returns a request for u, a URL that r supplied as a link in its Body
// or as its Location. It inherits the same fields as [Entry.Request]. From is a
// zero Source if r was not returned by a Client.
func (r *Response) Request(u uri.URI) *Request { return r.source.newRequest(u) }

// A referrer has the data that a request inherits from the Response that
// supplied its URL.
type referrer struct {
	from       Source
	auth       *Credential // bound to its origin, or nil
	leftOrigin bool        // the response came from another origin than the typed URL
}

func (l *referrer) newRequest(u uri.URI) *Request {
	if l == nil {
		return &Request{URL: u, From: &Source{}}
	}
	from := l.from
	return &Request{URL: u, From: &from, Auth: l.auth, leftOrigin: l.leftOrigin}
}

// referrerOf returns the referrer for requests whose URLs are in resp, the
// response to r.
func (c *Client) referrerOf(r *Request, resp *Response) *referrer {
	l := &referrer{from: Source{URL: r.URL.WithoutUserinfo(), Peer: resp.Peer}, auth: r.Auth, leftOrigin: r.leftOrigin}
	if !r.Typed() {
		s := c.Scheme(r.URL.Scheme())
		_, page := c.sourceOf(r)
		l.leftOrigin = l.leftOrigin || page != originOf(r.URL, &s)
	}
	return l
}
