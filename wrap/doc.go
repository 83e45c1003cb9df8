// Package wrap provides middlewares for all schemes, such as logs, spans, a cache of
// listings, retries with resume, limits per host, and progress reports. The
// zero value of the options of each middleware is useful. All middlewares are
// safe for concurrent use.
//
// The first middleware in fetch.Options.Wrap is the outermost. [Standard]
// returns the middlewares in the correct order:
//
//	Wrap: wrap.Standard(wrap.Options{Progress: show, Rate: 1 << 20}),
//
// A crawler should also set PoliteOptions{Rule: Robots("name")}, which obeys
// robots.txt.
//
// The Client follows redirects outside the middlewares. A middleware therefore
// handles each redirect as a separate request.
//
// The middlewares keep the contract of a Body. A Body returns io.EOF only if
// the object is complete. If the context ends, every wait ends. Close can be
// called more than once, and while another goroutine is in Read.
package wrap
