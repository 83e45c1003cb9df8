// Package outgoing describes HTTP requests that a program passes on for one of
// its clients, such as a browser.
package outgoing

import "io"

// A Message is the method and the body of a request. The driver of http sends
// it without changes: it adds no header fields except Host and the length of the
// body, follows no redirect, sends no credentials and does not decode the body.
type Message struct {
	Method string

	// Open returns the body from its start. It can be called several times. It
	// is nil if the request has no body. Size is the length of the body in
	// bytes.
	Open func() (io.ReadCloser, error)
	Size int64
}

// Repeatable reports whether the request may be sent again after an error,
// because a second request has no further effect (RFC 9110 section 9.2.2).
func (m *Message) Repeatable() bool {
	if m == nil {
		return true
	}
	switch m.Method {
	case "GET", "HEAD", "OPTIONS", "TRACE":
		return true
	}
	return false
}
