package fetch

import (
	"context"
	"iter"

	"github.com/anyurl/fetch/uri"
)

// List returns the entries of the listing at text, a URL that a person wrote as
// for [Client.Get]. Each iteration over the sequence sends a new request and
// closes its Body at the end. The first error ends the sequence. It has the
// Fault Unsupported if the URL names no listing. Pass [Entry.Request] to
// [Client.Do] to fetch an entry: Get would trust its URL like a typed one.
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

// Request returns a request for e.URL whose From is the listing that
// [Response.Entries] or [Client.List] read e from. The Policy therefore judges
// the URL as one that a server supplied. The request has the credential of the
// listing, which the Client sends to the origin of the listing alone. It has no
// other field of the request for the listing, such as Header.
//
// If e comes from elsewhere, for example from JSON, its listing is unknown.
// Then From is a zero Source, and the Policy refuses the request, unless
// Policy.Redirects allows the scheme of e.URL. The caller can set From.
func (e Entry) Request() *Request {
	return e.source.newRequest(e.URL)
}

// Request returns a request for u, a URL that r led to: a link in its Body or
// its Location. It inherits from r the same as an [Entry.Request] does. If no
// Client returned r, its URL is unknown, as that of an Entry from elsewhere.
func (r *Response) Request(u uri.URI) *Request { return r.source.newRequest(u) }

// A referrer is what a request inherits from the Response that led to it.
type referrer struct {
	from       Source
	auth       *Credential // bound to its origin; nil: none
	leftOrigin bool        // the request did not reach the origin that was asked for
}

func (l *referrer) newRequest(u uri.URI) *Request {
	if l == nil {
		return &Request{URL: u, From: &Source{}}
	}
	from := l.from
	return &Request{URL: u, From: &from, Auth: l.auth, leftOrigin: l.leftOrigin}
}

// referrerOf returns the referrer of requests that resp, the answer to r, leads
// to.
func (c *Client) referrerOf(r *Request, resp *Response) *referrer {
	l := &referrer{from: Source{URL: r.URL.WithoutUserinfo(), Peer: resp.Peer}, auth: r.Auth, leftOrigin: r.leftOrigin}
	if !r.Typed() {
		s := c.Scheme(r.URL.Scheme())
		_, page := c.sourceOf(r)
		l.leftOrigin = l.leftOrigin || page != originOf(r.URL, &s)
	}
	return l
}
