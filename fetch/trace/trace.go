// Package trace defines functions that receive the events of a request: bytes
// sent and received, notes for the user, and phases of the exchange.
//
// A caller sets the field Trace of a fetch.Request. Drivers call the methods of
// the Trace, which do nothing if the Trace or the function is nil.
package trace

import (
	"fmt"
	"net"
)

// A Trace is a set of functions that are called for events of one request. Any
// function may be nil, and so may the Trace. The functions for one direction
// are never called concurrently. Byte slices are valid only during the call.
//
// A function must not close the Body of the response. It may cancel the context
// of the request.
type Trace struct {
	Sent     func(p []byte)    // bytes before they are written, without the framing of TLS
	Received func(p []byte)    // bytes after they were read, without the framing of TLS
	Restart  func()            // the request is sent again; discard the bytes from earlier calls of Sent and Received
	Note     func(text string) // a note for the user, one line

	// Messages permits HTTP/2. Sent and Received then receive HTTP/2 messages as
	// equivalent HTTP/1.1 messages without a transfer coding. If Messages is
	// false, a request with Sent or Received is not sent over HTTP/2.
	Messages bool

	// Detail receives less important notes than Note, such as protocol
	// deviations that are very common among servers. Details are intended for
	// verbose output and for logs of an exchange.
	Detail func(text string)

	// Phase is called when the exchange reaches a phase. It is called again for
	// each connection that the request needs. The connection c may be nil. The
	// function may read only the addresses of c. Several goroutines may call
	// Phase at the same time, such as those that connect over QUIC and TCP.
	Phase func(p Phase, c net.Conn)

	// Connection receives the steps of a connection, such as an address that is
	// tried and the parameters of TLS. Each step is one line of text. Several
	// goroutines may call Connection at the same time.
	Connection func(text string)

	// RequestHead and ResponseHead receive the heads of HTTP messages,
	// including the heads of interim responses, challenges and CONNECT. In heads
	// of requests, the password of a gateway is masked. Other values may be
	// secret. HTTP/2 heads are formatted like HTTP/1 heads, with lower-case field
	// names. These functions do not disable HTTP/2.
	RequestHead  func(head string)
	ResponseHead func(head string)
}

// A Phase is a step of an exchange, such as the TLS handshake.
type Phase uint8

const (
	Resolved    Phase = iota // the host name was resolved
	Connected                // the server or its proxy accepted the connection
	Secured                  // the TLS handshake succeeded
	RequestSent              // the request was sent
	FirstByte                // the first byte of the response arrived
)

// Reached calls the function Phase of the Trace. Implementations of Net report
// Resolved and Connected. Drivers report the other phases.
func (t *Trace) Reached(p Phase, c net.Conn) {
	if t != nil && t.Phase != nil {
		t.Phase(p, c)
	}
}

// Restarted calls the function Restart of the Trace. A driver calls Restarted
// before it sends the request again on another connection.
func (t *Trace) Restarted() {
	if t != nil && t.Restart != nil {
		t.Restart()
	}
}

// Notef formats a note for the user, such as a tolerated protocol deviation,
// and passes it to the function Note of the Trace.
func (t *Trace) Notef(format string, args ...any) {
	if t != nil && t.Note != nil {
		t.Note(fmt.Sprintf(format, args...))
	}
}

// Detailf formats a less important note and passes it to the function Detail of
// the Trace.
func (t *Trace) Detailf(format string, args ...any) {
	if t != nil && t.Detail != nil {
		t.Detail(fmt.Sprintf(format, args...))
	}
}

// Connectionf formats a step of a connection and passes it to the function
// Connection of the Trace.
func (t *Trace) Connectionf(format string, args ...any) {
	if t != nil && t.Connection != nil {
		t.Connection(fmt.Sprintf(format, args...))
	}
}

// SentHead passes the head of an HTTP request to the function RequestHead of
// the Trace.
func (t *Trace) SentHead(head string) {
	if t != nil && t.RequestHead != nil {
		t.RequestHead(head)
	}
}

// ReceivedHead passes the head of an HTTP response to the function ResponseHead
// of the Trace.
func (t *Trace) ReceivedHead(head string) {
	if t != nil && t.ResponseHead != nil {
		t.ResponseHead(head)
	}
}

// Tap returns a connection that reports the bytes of conn to the functions Sent
// and Received of the Trace. It returns conn if both functions are nil.
func (t *Trace) Tap(conn net.Conn) net.Conn {
	if t == nil || t.Sent == nil && t.Received == nil {
		return conn
	}
	return &tap{conn, t}
}

type tap struct {
	net.Conn
	trace *Trace
}

// NetConn returns the underlying connection, like the method NetConn of
// tls.Conn.
func (c *tap) NetConn() net.Conn { return c.Conn }

func (c *tap) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.trace.got(p[:n])
	return n, err
}

func (c *tap) Write(p []byte) (int, error) {
	c.trace.sent(p)
	return c.Conn.Write(p)
}

func (t *Trace) sent(p []byte) {
	if t != nil && t.Sent != nil && len(p) > 0 {
		t.Sent(p)
	}
}

func (t *Trace) got(p []byte) {
	if t != nil && t.Received != nil && len(p) > 0 {
		t.Received(p)
	}
}
