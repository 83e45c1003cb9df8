// Package wrap holds what every scheme shares around its Driver: logs, a
// cache of listings, retries that resume, politeness, limits of rate,
// progress. Each is a fetch.Middleware, made from options whose zero value is
// right, and safe for concurrent use.
//
// The first in fetch.Options.Wrap is the outermost. [Standard] returns them in
// the order in which they understand each other:
//
//	Wrap: wrap.Standard(wrap.Options{Progress: show, Rate: 1 << 20}),
//
// A robot adds a Rule to the politeness: PoliteOptions{Rule: Robots("name")}.
//
// Each sees one hop: redirects are followed outside of them all. A Body stays
// what it was: io.EOF comes at its proved end alone, ctx ends every wait, and
// Close may be called again and beside Read.
package wrap
