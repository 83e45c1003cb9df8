// Package wrap holds what every scheme shares around its Driver: logs, a
// cache of listings, retries that resume, politeness, limits of rate,
// progress. Each is a fetch.Middleware, made from options whose zero value is
// right, and safe for concurrent use.
//
// The first in fetch.Options.Wrap is the outermost. This is the order in which
// they understand each other:
//
//	Wrap: []fetch.Middleware{
//		wrap.Log(logger),                   // what the caller sees
//		wrap.Progress(show),                // one body, however often resumed
//		wrap.Cache(wrap.CacheOptions{}),    // what is known is not asked for
//		wrap.Segments(4),                   // one body of several requests
//		wrap.Retry(wrap.RetryOptions{}),    // each attempt passes what follows
//		wrap.Polite(wrap.PoliteOptions{}),  // waits outside the network
//		wrap.Limit(1 << 20),
//	}
//
// A robot adds a Rule to the politeness: PoliteOptions{Rule: Robots("name")}.
//
// Each sees one hop: redirects are followed outside of them all. A Body stays
// what it was: io.EOF comes at its proved end alone, ctx ends every wait, and
// Close may be called again and beside Read.
package wrap
