// Package http implements the schemes http and https (RFC 9110) over HTTP/1.1
// (RFC 9112), HTTP/2 (RFC 9113) and HTTP/3 (RFC 9114).
//
// [Schemes] returns the schemes for fetch.New. The driver of a scheme does not
// follow redirects. It returns them in Response.Location, and the Client
// follows them if its Policy allows this.
//
// The request line contains the path and query of the URL unchanged, except
// that dot segments are removed unless Options.PathAsIs is set. If a body is
// truncated, its last Read returns an error other than io.EOF.
//
// The package has its own implementation of HTTP/1 and uses the Transport of
// net/http for HTTP/2. It opens connections with fetch.Net and reuses them only
// for requests with the same Net.Key. Therefore, a request never uses a
// connection that its Policy would block. If trace.Trace has a Sent or Received
// function, the driver uses HTTP/1.1, so that the functions receive the bytes
// that are sent and received.
package http
