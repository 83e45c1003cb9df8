package http

import (
	"net/http"
	"time"
)

// A window is the size of the flow-control window of each request on a
// connection. It limits the memory for bodies that the caller does not read,
// such as the outputs of a parallel command that wait for an earlier one. It
// also limits the speed to one window in each round-trip time.
//
// A few requests at a time get a wide window for their speed. All others get a
// narrow one on another connection. The window of a connection is never smaller
// than the sum of the windows of its requests. Otherwise, unread bodies could
// block the request for which their callers wait.
type window uint8

const (
	wide window = iota
	narrow
)

const (
	maxWide      = 4 // concurrent requests with a wide window
	wideWindow   = 4<<20 - 1
	narrowWindow = 256 << 10
)

// config returns the settings of HTTP/2 for connections with the window w. A
// connection receives no data while its callers pause. PING frames keep it
// alive, because fetch.Net closes it after the time idle without a byte.
func (w window) config(idle time.Duration) *http.HTTP2Config {
	c := &http.HTTP2Config{SendPingTimeout: idle / 2, PingTimeout: idle / 2, MaxReceiveBufferPerStream: narrowWindow}
	if w == wide {
		c.MaxReceiveBufferPerStream, c.MaxReceiveBufferPerConnection = wideWindow, maxWide*wideWindow
	}
	return c
}

// firstByteTime returns the maximum time from a request to the response head.
// It is at most the idle time, because responses to PING frames restart the
// idle time of fetch.Net.
func firstByteTime(idle time.Duration) time.Duration {
	if idle > 0 {
		return min(firstByte, idle)
	}
	return firstByte
}
