// Package message defines requests and responses of HTTP/3, and the connections
// that carry them, without QUIC. Package schemes/http imports it, so that only
// programs that select HTTP/3 link QUIC.
package message

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"
)

// MaxRequests is the maximum number of concurrent requests on a connection. The
// window of the connection is the sum of the windows of its requests. Otherwise,
// unread bodies could block the request for which their callers wait.
const MaxRequests = 16

// A Transport opens connections for HTTP/3 and selects the requests that use
// them. It is safe for concurrent use.
type Transport interface {
	// Addresses returns the addresses at which HTTP/3 is tried for an https
	// server, the best first. The argument own is the address in the URL.
	Addresses(ctx context.Context, host string, port uint16, own string) []string

	// Only reports whether https requests must not use TCP.
	Only() bool

	// HeadStart returns the time after which TCP is tried too.
	HeadStart() time.Duration

	// Handshake opens a connection over a connected UDP socket. The field
	// ServerName of config is required. If Handshake fails, it closes the socket.
	Handshake(ctx context.Context, socket net.Conn, config *tls.Config) (Conn, error)
}

// A Conn is a connection to a server. It is a net.Conn so that fetch.Net can
// return it, but it can be read and written only with requests. It is safe for
// concurrent use.
type Conn interface {
	net.Conn

	// Usable reports whether another request can be sent on the connection.
	Usable() bool

	// ConnectionState returns the state of the TLS handshake.
	ConnectionState() tls.ConnectionState

	// RoundTrip sends a request without a body and reads the head of its
	// response. The fields start with the pseudo-header fields of HTTP/3, such as
	// ":method". The limit is the time until the head is complete. The function
	// sent is called after the request was sent, and done is called once, when
	// the stream is no longer used. If ctx ends, also reading the body fails.
	RoundTrip(ctx context.Context, fields []Field, limit time.Duration, sent, done func()) (*Response, error)
}

// A Field is a header field. The names in requests and responses are in lower
// case.
type Field struct{ Name, Value string }

// A Response is the response to a request. Body must be closed.
type Response struct {
	Status int
	Header []Field
	Length int64 // of the body, or -1 if it is unknown
	Body   Body
}

// A Body is the body of a response. Its Read returns io.EOF only if the server
// has confirmed the end of the body. Close may be called during a Read.
type Body interface {
	io.ReadCloser

	// Trailer returns the fields after the body. It is called after Read has
	// returned io.EOF.
	Trailer() []Field
}

// An Error describes a server that violates HTTP/3 or a limit.
type Error struct {
	Code      uint64 // error code of HTTP/3
	TooLarge  bool   // a limit for sizes was exceeded
	Truncated bool   // the response is incomplete
	Text      string
}

func (e *Error) Error() string { return "http3: " + e.Text }

// ErrUnsent means that the server has not processed the request, so that it can
// be sent again over another connection.
var ErrUnsent = errors.New("http3: server closes the connection")

// ErrFull means that the server allows no further stream on the connection for
// now. The request was not sent.
var ErrFull = errors.New("http3: server allows no further request on the connection")

// A TLSError means that the TLS handshake of a QUIC connection failed. The server
// can reject a client certificate when a request was already sent.
type TLSError struct{ Err error }

func (e *TLSError) Error() string { return "tls handshake: " + e.Err.Error() }
func (e *TLSError) Unwrap() error { return e.Err }

// A LostError means that the connection or the stream of a request ended.
type LostError struct {
	Reset bool  // the server canceled only the stream
	Err   error // a timeout, or nil; its text has no bytes from the server
}

func (e *LostError) Error() string {
	if e.Reset {
		return "http3: server canceled the request"
	}
	return "http3: connection lost"
}

func (e *LostError) Unwrap() error { return e.Err }
