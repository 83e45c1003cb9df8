package fetch

import (
	"context"
	"iter"
	"net/netip"

	"github.com/anyurl/fetch/uri"
)

// List returns an iterator over the entries of a listing, such as a directory
// or a menu. The text is a URL that the user entered, as for [Client.Get]. Each
// loop over the iterator sends a new request, and closes the Body when the loop
// ends. The first error ends the loop. If the URL names no listing, the error has
// the Fault Unsupported. To fetch an entry, pass [Entry.Request] to [Client.Do].
// Do not use Get, which trusts a URL as if the user had entered it.
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

// Request returns a request for the URL of the entry. Request.From is set to
// the listing that contains the entry. The Policy therefore treats the URL as
// supplied by a server. The request has the credential of the listing, which
// the Client sends only to the origin of the listing. Other fields of the
// request for the listing, such as Header, are not copied.
//
// The listing is recorded only in entries that [Response.Entries] or
// [Client.List] returned. For other entries, such as entries decoded from JSON,
// From is the zero Source. The Policy rejects such a request unless
// Policy.Redirects allows the scheme of the URL. The caller can set From.
func (e Entry) Request() *Request {
	return e.source.newRequest(e.URL)
}

// Request returns a request for a URL in the body or the Location of the
// response. It copies the same data as [Entry.Request]. From is the zero Source
// if the response was not returned by a Client.
func (r *Response) Request(u uri.URI) *Request { return r.source.newRequest(u) }

// A referrer records the response that contains a link. The Source of the link
// is computed only when a request follows it, because most links are not
// followed.
type referrer struct {
	client  *Client
	request *Request // request of the response
	peer    netip.Addr
}

// newRequest returns a request for a link to u. The request has the credential
// of the response, which the Client sends only to its own origin.
func (l *referrer) newRequest(u uri.URI) *Request {
	if l == nil {
		return &Request{URL: u, From: &Source{}}
	}
	r := l.request
	from := &Source{URL: r.URL.WithoutUserinfo(), Peer: l.peer}
	return &Request{URL: u, From: from, Auth: r.Auth, leftOrigin: l.leftOrigin()}
}

// leftOrigin reports whether a redirect or a link has left the origin of the
// URL that the user entered.
func (l *referrer) leftOrigin() bool {
	r := l.request
	if r.leftOrigin || r.Typed() {
		return r.leftOrigin
	}
	s := l.client.Scheme(r.URL.Scheme())
	_, page := l.client.sourceOf(r)
	return page != originOf(r.URL, &s)
}
