package ardp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"time"
)

// Timeouts of a client. A packet is sent up to four times, with waits of 4, 8
// and 16 seconds between the attempts, and 32 seconds after the last one. The
// next packet of the reply restarts this schedule.
const (
	firstWait = 4 * time.Second
	retries   = 3
	patience  = 10 * time.Minute // maximum time without a new byte of the reply
)

const (
	maxData    = 1250 // bytes of data in one packet of a request
	maxRequest = 16   // maximum packets of a request; servers accept no more at once
	window     = 64   // maximum packets that are buffered while an earlier one is missing
	maxPacket  = 64 << 10
)

var (
	// ErrRefused means that the server temporarily rejects requests.
	ErrRefused = errors.New("server refuses the connection")
	// ErrTooLong means that a request has more packets than any server accepts.
	ErrTooLong = errors.New("request too long")
)

// A RedirectError is the error for a server that redirects the client to
// another server.
type RedirectError struct{ To netip.AddrPort }

func (e *RedirectError) Error() string { return "server redirects to " + e.To.String() }

// Options contains optional settings of a [Call]. The zero value is valid.
type Options struct {
	ID   uint16                           // connection id; 0: a random id
	Note func(format string, args ...any) // receives notes for the user; may be nil
}

// A Call is the reply to one request. Read returns its bytes in order, and
// io.EOF at the end of the reply. A Call sends, waits and acknowledges only
// inside Read, so its memory is constant for replies of any length. A server
// may give up if the caller pauses between two Reads for long.
//
// Errors come from the socket and from this package. The error is
// os.ErrDeadlineExceeded if the server never answered, and io.ErrUnexpectedEOF if
// it stopped during the reply. A Call is not safe for concurrent use. Closing the
// socket ends a Read.
type Call struct {
	conn net.Conn
	note func(format string, args ...any)
	id   uint16

	version uint8
	out     [][]byte // the data of the packets of the request
	acked   uint16   // number of the last packet that the server acknowledged

	got    uint16            // number of the last packet received without a gap
	total  uint16            // number of packets of the reply; 0: unknown
	held   map[uint16][]byte // packets after a gap, by number; nil data: a Control packet
	text   []byte            // received bytes that Read has not returned
	buf    []byte            // memory that text reuses
	packet []byte

	timeout  time.Duration
	tries    int
	due      time.Time // time of the next retransmission
	deadline time.Time // time to give up if no new bytes arrive
	limit    time.Time // set by Until
	gap      uint16    // first missing packet of the last gap that was reported to the server
	err      error
}

// New sends a request over conn and returns a Call, which reads the reply.
func New(conn net.Conn, request []byte, o Options) (*Call, error) {
	c := &Call{conn: conn, note: o.Note, id: o.ID, held: map[uint16][]byte{}, packet: make([]byte, maxPacket)}
	if c.note == nil {
		c.note = func(string, ...any) {}
	}
	for c.id == 0 {
		c.id = uint16(rand.Uint32())
	}
	for len(request) > maxData {
		c.out, request = append(c.out, request[:maxData]), request[maxData:]
	}
	if c.out = append(c.out, request); len(c.out) > maxRequest {
		return nil, ErrTooLong
	}
	c.renew()
	c.deadline = time.Now().Add(patience)
	return c, c.send()
}

// Until sets a deadline for the reply, in addition to the timeouts of the
// protocol. The zero time removes the deadline.
func (c *Call) Until(t time.Time) { c.limit = t }

// renew restarts the schedule of retransmissions, for a new request or after
// the next packet of the reply.
func (c *Call) renew() {
	c.timeout, c.tries, c.due = firstWait, 0, time.Now().Add(firstWait)
}

// send sends all packets that the server has not acknowledged. If there are
// none, it acknowledges the packets of the reply.
func (c *Call) send() error {
	if int(c.acked) >= len(c.out) {
		return c.ack()
	}
	for i := int(c.acked); i < len(c.out); i++ {
		p := c.header()
		p.Number, p.Total, p.Data = uint16(i+1), uint16(len(c.out)), c.out[i]
		if err := c.write(p); err != nil {
			return err
		}
	}
	return nil
}

// ack acknowledges the received packets of the reply.
func (c *Call) ack() error { return c.write(c.header()) }

// header returns a header of nine octets, the size that old servers expect.
func (c *Call) header() Packet {
	return Packet{Version: c.version, Size: 9, ID: c.id, Received: c.got}
}

// write sends a datagram. If the socket does not accept it in time, the
// datagram counts as lost.
func (c *Call) write(p Packet) error {
	c.conn.SetWriteDeadline(time.Now().Add(firstWait))
	_, err := c.conn.Write(p.Append(nil))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

// Read reads the next bytes of the reply.
func (c *Call) Read(p []byte) (int, error) {
	for len(c.text) == 0 {
		if c.err == nil && c.total != 0 && c.got == c.total {
			c.err = io.EOF
		}
		if c.err == nil {
			c.err = c.step()
		}
		if c.err != nil && len(c.text) == 0 {
			return 0, c.err
		}
	}
	n := copy(p, c.text)
	c.text = c.text[n:]
	return n, nil
}

// step processes one datagram, or a timeout if no datagram arrives.
func (c *Call) step() error {
	at := c.due
	for _, end := range []time.Time{c.deadline, c.limit} {
		if end.Before(at) && !end.IsZero() {
			at = end
		}
	}
	c.conn.SetReadDeadline(at)
	n, err := c.conn.Read(c.packet)
	switch {
	case err == nil:
		return c.handle(c.packet[:n])
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return err
	}
	now := time.Now()
	switch {
	case !c.limit.IsZero() && !now.Before(c.limit):
		return fmt.Errorf("server is too slow: %w", os.ErrDeadlineExceeded)
	case !now.Before(c.deadline), !now.Before(c.due) && c.tries == retries:
		return c.silence()
	case now.Before(c.due): // the deadline of the socket was earlier
		return nil
	}
	c.tries++
	c.timeout *= 2
	c.due = now.Add(c.timeout)
	return c.send()
}

// silence returns the error for a server that has stopped answering.
func (c *Call) silence() error {
	if c.got > 0 {
		return fmt.Errorf("server fell silent within its reply: %w", io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("server does not answer: %w", os.ErrDeadlineExceeded)
}

// handle processes a datagram. It drops datagrams of other conversations.
func (c *Call) handle(b []byte) error {
	p, err := Parse(b)
	switch {
	case err == ErrVersion && c.version == 0 && c.got == 0:
		c.version = 1
		return c.send()
	case err == ErrVersion:
		return nil
	case errors.Is(err, errNoHeader):
		return err
	case err != nil:
		c.note("dropped a datagram: %v", err)
		return nil
	case !c.isMine(p.ID):
		c.note("dropped a datagram of another conversation")
		return nil
	}
	c.acked = max(c.acked, min(p.Received, uint16(len(c.out))))
	if err := c.option(p); err != nil {
		return err
	}
	c.waits(p)
	if p.Number > 0 {
		if err := c.accept(p); err != nil {
			return err
		}
	}
	gap := p.Number > c.got && c.gap != c.got+1
	if gap {
		c.gap = c.got + 1
	}
	if p.Ack || gap {
		return c.ack()
	}
	return nil
}

// isMine reports whether a packet with the given id belongs to this Call.
// Servers on little-endian machines (dirsrv PreAlpha 5.3) swap the two bytes of
// the id, so both orders are accepted.
func (c *Call) isMine(id uint16) bool { return id == c.id || id == bits.ReverseBytes16(c.id) }

func (c *Call) option(p Packet) error {
	switch p.Option {
	case Refused:
		return ErrRefused
	case Reset:
		c.acked = min(p.Received, uint16(len(c.out)))
	case Redirect, RedirectAll:
		if len(p.Args) < 6 {
			return malformed("redirect without address")
		}
		addr, _ := netip.AddrFromSlice(p.Args[:4])
		return &RedirectError{netip.AddrPortFrom(addr, binary.BigEndian.Uint16(p.Args[4:]))}
	case Queue:
		if len(p.Args) >= 3 && p.Args[0]&1 != 0 {
			c.note("number %d in the server's queue", binary.BigEndian.Uint16(p.Args[1:]))
		}
	}
	return nil
}

// waits adjusts the next retransmission if the server requests a wait in p.
func (c *Call) waits(p Packet) {
	if !p.HasWait {
		return
	}
	if wait := time.Duration(p.Wait) * time.Second; wait > 0 {
		c.note("server asks for %v of patience", wait)
		c.tries, c.timeout = 0, firstWait
		c.due = time.Now().Add(max(c.timeout, wait))
	} else if soon := time.Now().Add(c.timeout); c.due.After(soon) {
		c.due = soon
	}
}

// accept processes a packet of the reply. If an earlier packet is missing, it
// buffers the packet.
func (c *Call) accept(p Packet) error {
	if p.Total != 0 {
		if c.total != 0 && p.Total != c.total || p.Total < p.Number || p.Total < c.got {
			return malformed("reply of %d packets and of %d", c.total, p.Total)
		}
		c.total = p.Total
	}
	switch {
	case c.total != 0 && p.Number > c.total:
		return malformed("packet %d of %d", p.Number, c.total)
	case p.Number <= c.got, int(p.Number) > int(c.got)+window:
		return nil // a duplicate, or too far ahead
	}
	data := p.Data
	if p.Control {
		data = nil
	}
	if p.Number != c.got+1 {
		if _, has := c.held[p.Number]; !has {
			c.held[p.Number] = append([]byte(nil), data...)
		}
		return nil
	}
	if len(c.text) == 0 {
		c.text = c.buf[:0]
	}
	for has := true; has; {
		c.text = append(c.text, data...)
		c.got++
		data, has = c.held[c.got+1]
		delete(c.held, c.got+1)
	}
	c.buf = c.text
	c.renew()
	if len(c.text) > 0 {
		c.deadline = time.Now().Add(patience)
	}
	return nil
}
