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
// Connections are made by net/http's Transport over fetch.Net, one Transport
// for each fetch.Net.Key, so that no request meets a connection that the
// Policy would not have opened for it. While fetch.Trace listens, HTTP/1.1
// alone is offered, and Sent and Got hear the exact bytes of the exchange.
package http
