package faultnet

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// Latencies of Wires. They differ, so that bytes of both directions never pass
// at the same time and the order of all bytes is the same in each run.
const (
	requestLatency  = time.Millisecond
	responseLatency = 1370 * time.Microsecond
)

// A wire relays one connection.
type wire struct {
	w                    *Wires
	nth                  int
	near, client, server net.Conn // near and client are connected

	// Protected by w.mu.
	lengths []int     // bytes of each response
	last    Direction // direction of the last bytes
	failed  bool      // fail was called
	outage  Outage    // its argument
	ended   bool      // one side has closed the connection
}

// relay starts to relay a new connection to a server.
func (w *Wires) relay(server net.Conn, nth int) *wire {
	from, _ := netip.ParseAddrPort(server.LocalAddr().String())
	to, _ := netip.ParseAddrPort(server.RemoteAddr().String())
	near, client := Pipe(from, to)
	if server.LocalAddr().Network() == "udp" {
		near, client = PacketPipe(from, to)
	}
	c := &wire{w: w, nth: nth, near: near, client: client, server: server}
	w.mu.Lock()
	w.wires = append(w.wires, c)
	w.mu.Unlock()
	w.tasks.Go(c.relayRequests)
	w.tasks.Go(c.relayResponses)
	return c
}

func (c *wire) relayRequests() {
	p := make([]byte, 64<<10)
	for {
		n, err := c.client.Read(p)
		time.Sleep(requestLatency)
		c.w.mu.Lock()
		failed, outage := c.failed, c.outage
		if n > 0 {
			c.last = Requests
		}
		c.w.mu.Unlock()
		switch {
		case failed && outage == HalfOpen && n > 0:
			abort(c.client)
			return
		case failed && outage != Delayed && outage != Trickle:
		case n > 0:
			c.server.Write(p[:n])
		}
		if err != nil {
			c.end(c.server, err)
			return
		}
	}
}

func (c *wire) relayResponses() {
	p := make([]byte, 64<<10)
	for {
		n, err := c.server.Read(p)
		time.Sleep(responseLatency)
		if n > 0 {
			ok, failing := c.count(n)
			c.forward(p[:ok])
			if failing {
				c.fail(c.w.outage)
			}
			c.forward(p[ok:n])
		}
		if err != nil {
			c.end(c.client, err)
			return
		}
	}
}

// end passes on the end of the connection in one direction.
func (c *wire) end(to net.Conn, err error) {
	c.w.mu.Lock()
	c.ended = true
	lost := c.failed && c.outage != Trickle && c.outage != Delayed
	c.w.mu.Unlock()
	switch half, ok := to.(interface{ CloseWrite() error }); {
	case lost:
	case errors.Is(err, syscall.ECONNRESET):
		abort(to)
	case err == io.EOF && ok:
		half.CloseWrite()
	default:
		to.Close()
	}
}

// count counts n bytes of a response. If the outage is within these bytes, count
// returns the number of bytes before it.
func (c *wire) count(n int) (ok int, failing bool) {
	w := c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.last != Responses {
		c.lengths = append(c.lengths, 0)
	}
	c.last = Responses
	turn := len(c.lengths)
	had := c.lengths[turn-1]
	c.lengths[turn-1] += n
	if w.hit || w.at.Conn != c.nth || w.at.Turn != turn {
		return n, false
	}
	first := 0
	switch length := w.intact[c.nth-1][turn-1]; w.at.Part {
	case Begun:
		first = min(1, length)
	case Within:
		first = length / 2
	case After:
		first = length
	}
	if had+n < first || w.at.Part != Before && had+n == 0 {
		return n, false
	}
	w.hit = true
	return max(first-had, 0), true
}

// forward sends bytes of the server to the client, as far as the state of the
// connection permits.
func (c *wire) forward(p []byte) {
	c.w.mu.Lock()
	failed, outage := c.failed, c.outage
	c.w.mu.Unlock()
	switch {
	case len(p) == 0:
	case !failed || outage == Delayed:
		c.client.Write(p)
	case outage == Trickle:
		for i := range p {
			time.Sleep(TricklePause)
			if _, err := c.client.Write(p[i : i+1]); err != nil {
				return
			}
		}
	}
}

// fail makes the connection fail.
func (c *wire) fail(o Outage) {
	c.w.mu.Lock()
	c.failed, c.outage = true, o
	c.w.mu.Unlock()
	switch o {
	case CutOff:
		c.client.Close()
		c.server.Close()
	case Aborted:
		abort(c.client)
		abort(c.server)
	case HalfOpen:
		c.server.Close()
	case Delayed:
		time.Sleep(OutageDelay)
	}
}

// abort resets a connection. For a datagram connection, the other end receives
// the error for an unreachable port.
func abort(conn net.Conn) {
	switch pipe, ok := conn.(*PipeConn); {
	case !ok:
		conn.Close()
	case pipe.network == "udp":
		pipe.out.finish(syscall.ECONNREFUSED, nil)
	default:
		pipe.Reset()
	}
}
