// Package http implements the schemes http and https (RFC 9110) over HTTP/1.1
// (RFC 9112) and HTTP/2 (RFC 9113).
//
// Pass the result of [Schemes] to fetch.New. The driver reports redirects in
// Response.Location. The Client follows them if its Policy allows it.
//
// The request line has the path and query of the URL, byte for byte. Dot
// segments are removed unless Options.PathAsIs is set. If a body is truncated,
// its last Read returns an error other than io.EOF.
//
// The package has its own implementation of HTTP/1 and uses the Transport of
// net/http for HTTP/2. It opens connections with fetch.Net and shares them only
// between requests with the same Net.Key. A request therefore never uses a
// connection that its Policy would block. If fetch.Trace has a Sent or Got
// function, the driver offers only HTTP/1.1, and the functions receive the
// bytes on the wire.
package http
