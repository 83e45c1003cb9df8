// Package http is the schemes http and https: RFC 9110, with HTTP/1.1 (RFC
// 9112) and HTTP/2 (RFC 9113).
//
// Call [Schemes] and give the result to fetch.New. Redirects are reported and
// never followed here: the Client follows them under its Policy.
//
// The request line carries path and query as the URL spells them, byte for
// byte; only dot segments are removed, unless Options.PathAsIs keeps them. A
// body that is delivered is complete, or its last Read is an error.
//
// HTTP/1 is spoken here, and HTTP/2 by net/http's Transport. Connections are
// made over fetch.Net and shared within its Key, so that no request meets one
// that the Policy would not have opened for it. While fetch.Trace listens,
// HTTP/1.1 alone is offered, and Sent and Got hear the exact bytes of the
// exchange.
package http
