package mirror

import (
	"context"
	"errors"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// The archive and the validator of an object can be forged, so that a server
// confirms an object that it has never sent. The links in an archived object
// therefore do not count as found by this process.

// errUnproven means that the Policy would judge a link in an archived object by
// the server of the object, which may never have sent the link.
var errUnproven = errors.New("a link in an archived object of a private server")

// needsSource reports whether the page must have a link to u, so that the Policy
// permits the link: the server of the page is private, and u is in the scope of
// the seeds that the user entered, but on another server. The result is false if
// the page was retrieved without a condition, because it would not change then, and
// if a download was resumed: the next run retrieves the page again.
func (d *discovery) needsSource(u uri.URI, text string) bool {
	t, peer := d.c.trust, d.peer
	if !peer.IsValid() {
		peer, _ = d.v.url.Addr()
	}
	resumed := d.v.resp != nil && d.v.resp.Offset > 0
	if d.v.unconditional || resumed || !peer.IsValid() || fetch.IsPublic(peer) || !t.scope.inReach(u, text) {
		return false
	}
	to := &visit{url: u, scheme: d.c.schemeOf(u)}
	to.text = text
	to.origin, _ = originOf(u)
	return !isPublicAddress(u) && !t.onSeedServer(to)
}

// isPublicAddress reports whether the host of u is a public IP address.
func isPublicAddress(u uri.URI) bool {
	a, ok := u.Addr()
	return ok && fetch.IsPublic(a)
}

// retrieveAgain retrieves the object of v without a condition, so that the server
// sends the object.
func (c *crawl) retrieveAgain(ctx context.Context, v *visit) error {
	v.freeBody()
	v.exchange.Free()
	v.findings = findings{memory: v.findings.memory}
	v.unconditional, v.resp, v.content, v.note = true, nil, contentNew, ""
	return c.retrieve(ctx, v)
}
