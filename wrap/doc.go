// Package wrap has middlewares for all schemes: logs, a cache of listings,
// retries that resume, limits per host, a limit on the transfer rate, and
// progress reports. The zero value of the options of each middleware is useful.
// All middlewares are safe for concurrent use.
//
// The first middleware in fetch.Options.Wrap is the outermost. [Standard]
// returns the middlewares in the order in which they work together:
//
//	Wrap: wrap.Standard(wrap.Options{Progress: show, Rate: 1 << 20}),
//
// A robot adds the rules of robots.txt: PoliteOptions{Rule: Robots("name")}.
//
// The Client follows redirects, so that a middleware sees each redirect as a
// separate request. The middlewares keep the contract of a Body: it returns
// io.EOF only if the object is complete, the end of ctx ends every wait, and
// Close can be called more than once and concurrently with Read.
package wrap
