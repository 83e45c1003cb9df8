package fetch

import (
	"fmt"
	"net"
)

// A Trace listens to one request. Nil functions hear nothing, and a nil Trace
// is one of nil functions. Calls come from one goroutine at a time for each
// direction; the slices are valid during the call only. Functions must not close
// the Body of the response; they may end the ctx of the request.
type Trace struct {
	Sent     func(p []byte)    // bytes above TLS, before they are written
	Received func(p []byte)    // bytes above TLS, as they were read
	Restart  func()            // the attempt is void: what Sent and Got heard does not count
	Note     func(text string) // something worth a line to a person

	// Detail hears what belongs into a record of the exchange, or is for who wants
	// to know it all: a deviation that nearly every server of its kind shows.
	Detail func(text string)

	// Mark hears how far the exchange has come, again for each connection
	// that is made on the way; c is that connection, where there is one: not
	// to be used but for its addresses.
	Phase func(p Phase, c net.Conn)
}

// A Phase is how far an exchange has come.
type Phase uint8

const (
	Resolved    Phase = iota // the name has addresses
	Connected                // to the server, or to its proxy
	Secured                  // TLS is agreed on
	RequestSent              // the request is sent
	FirstByte                // the first byte has come
)

// Reached tells Mark that the exchange has come as far as p. Drivers call it
// for what the door cannot see: Secured, Asked and Answered.
func (t *Trace) Reached(p Phase, c net.Conn) {
	if t != nil && t.Phase != nil {
		t.Phase(p, c)
	}
}

// Restarted reports to Again that the attempt is void. Drivers call it before
// they make the request again on another connection.
func (t *Trace) Restarted() {
	if t != nil && t.Restart != nil {
		t.Restart()
	}
}

// Notef says something worth a line: a deviation tolerated, a name guessed.
func (t *Trace) Notef(format string, args ...any) {
	if t != nil && t.Note != nil {
		t.Note(fmt.Sprintf(format, args...))
	}
}

// Detailf says what a record should hold and nobody needs to be told.
func (t *Trace) Detailf(format string, args ...any) {
	if t != nil && t.Detail != nil {
		t.Detail(fmt.Sprintf(format, args...))
	}
}

// Tap returns conn with its bytes told to t, or conn itself where t hears
// nothing.
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

// NetConn returns the connection below, as tls.Conn does.
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
