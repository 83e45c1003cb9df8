package mirrorcmd

import (
	"context"
	"slices"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// seedCredentials adds the credentials, cookies and header fields of the user
// to requests, but only for the servers of the seed URLs. Other servers get
// only the User-Agent field.
type seedCredentials struct {
	logins  *clientflags.Logins
	seeds   []fetch.Origin // servers of the seeds
	fields  fetch.Header   // header fields for servers of the seeds
	general fetch.Header   // header fields for other servers
}

// newSeedCredentials returns a seedCredentials for the servers of the seed
// URLs. The caller must set logins before the first request.
func newSeedCredentials(seeds []uri.URI, f *clientflags.HTTPFlags) (*seedCredentials, error) {
	fields, err := f.Fields()
	if err != nil {
		return nil, err
	}
	general := fields.Without(func(name string) bool { return !strings.EqualFold(name, "User-Agent") })
	c := &seedCredentials{fields: fields, general: general}
	for _, u := range seeds {
		if o, ok := clientflags.OriginOf(u); ok {
			c.seeds = append(c.seeds, o)
		}
	}
	return c, nil
}

// middleware returns a driver that adds credentials to each request before it
// calls next.
func (c *seedCredentials) middleware(next fetch.Driver) fetch.Driver {
	return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		origin, ok := clientflags.OriginOf(req.URL)
		req = req.Clone()
		if ok && c.isSeed(origin) {
			c.add(req, origin)
		} else {
			req.Header = append(req.Header, c.general...)
		}
		return next.Do(ctx, req)
	})
}

// isSeed reports whether o is the server of a seed.
func (c *seedCredentials) isSeed(o fetch.Origin) bool { return slices.Contains(c.seeds, o) }

// add adds header fields and credentials to req.
func (c *seedCredentials) add(req *fetch.Request, origin fetch.Origin) {
	req.Header = append(req.Header, c.fields...)
	if !c.logins.Complete(req) {
		return
	}
	// The driver of a mailbox creates the URLs of its messages. Requests for
	// these messages may therefore use the credentials of the mailbox.
	if req.Auth != nil && req.From != nil && req.Scheme().Traits.Mailbox {
		if from, _ := clientflags.OriginOf(req.From.URL); from == origin {
			req.From = nil
		}
	}
}
