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

// The patience of a client. A packet is sent once and, where nothing comes,
// three times more, after 4, 8 and 16 seconds; after 32 more the server is
// given up. Whatever comes anew begins this again, and a server may ask for
// patience; but none is without end.
const (
	firstWait = 4 * time.Second
	retries   = 3
	patience  = 10 * time.Minute // without a further byte of the reply
)

const (
	maxData    = 1250 // octets of data in a packet that we send
	maxRequest = 16   // packets of a request, as many as a server takes at once
	window     = 64   // packets that are kept beyond one that is missing
	maxPacket  = 64 << 10
)

var (
	// ErrRefused is a server that will not answer now.
	ErrRefused = errors.New("server refuses the connection")
	// ErrTooLong is a request that no server could take.
	ErrTooLong = errors.New("request too long")
)

// A RedirectError is where the server wants to be asked instead.
type RedirectError struct{ To netip.AddrPort }

func (e *RedirectError) Error() string { return "server redirects to " + e.To.String() }

// Options are how a Call is made. The zero value is right.
type Options struct {
	ID   uint16                           // of the conversation; 0: a random one
	Note func(format string, args ...any) // hears what is worth a line; nil: nobody does
}

// A Call is the reply to one request: Read gives its bytes in their order, and
// io.EOF once all of them have come. It sends, waits and acknowledges only
// from within Read, so memory stays flat however long the reply is; to pause
// for long is to lose the server.
//
// Errors are those of the socket, os.ErrDeadlineExceeded where no answer came,
// io.ErrUnexpectedEOF where no more came, and the errors of this package. A
// Call is not safe for concurrent use; closing the socket ends a Read.
type Call struct {
	conn net.Conn
	note func(format string, args ...any)
	id   uint16

	version uint8
	out     [][]byte // the data of the packets of the request
	acked   uint16   // of these, all up to here have come

	got    uint16            // of the reply, all up to here have come
	total  uint16            // packets of the reply; 0: not known yet
	held   map[uint16][]byte // packets beyond a gap; nil data: Control
	text   []byte            // not given out yet
	buf    []byte            // backs text
	packet []byte

	timeout  time.Duration
	tries    int
	due      time.Time // when to send again
	deadline time.Time // when to give up
	limit    time.Time // of Until
	gap      uint16    // that was told of, plus one
	err      error
}

// New sends a request over conn.
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

// Until ends every wait at t, whatever the server sends until then. The zero t
// is that nothing but the patience of a Call ends one.
func (c *Call) Until(t time.Time) { c.limit = t }

// renew begins to wait anew.
func (c *Call) renew() {
	c.timeout, c.tries, c.due = firstWait, 0, time.Now().Add(firstWait)
}

// send sends what the server has not acknowledged, or an acknowledgement where
// that is nothing.
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

// ack tells how far the reply has come.
func (c *Call) ack() error { return c.write(c.header()) }

// header is of nine octets: those that the servers of old look for.
func (c *Call) header() Packet {
	return Packet{Version: c.version, Size: 9, ID: c.id, Received: c.got}
}

// write sends a datagram. One that the socket does not take in time is lost
// like any other.
func (c *Call) write(p Packet) error {
	c.conn.SetWriteDeadline(time.Now().Add(firstWait))
	_, err := c.conn.Write(p.Append(nil))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

// Read implements io.Reader.
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

// step takes one datagram, or does what is due when none comes.
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
		return c.take(c.packet[:n])
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return err
	}
	now := time.Now()
	switch {
	case !c.limit.IsZero() && !now.Before(c.limit):
		return fmt.Errorf("server is too slow: %w", os.ErrDeadlineExceeded)
	case !now.Before(c.deadline), !now.Before(c.due) && c.tries == retries:
		return c.silence()
	case now.Before(c.due): // the socket is less patient than we are
		return nil
	}
	c.tries++
	c.timeout *= 2
	c.due = now.Add(c.timeout)
	return c.send()
}

// silence is why a Call is given up.
func (c *Call) silence() error {
	if c.got > 0 {
		return fmt.Errorf("server fell silent within its reply: %w", io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("server does not answer: %w", os.ErrDeadlineExceeded)
}

// take does what a datagram asks for. One that is not of this conversation is
// dropped.
func (c *Call) take(b []byte) error {
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

// isMine also takes an id whose octets are swapped: dirsrv PreAlpha 5.3 on a
// machine that stores the low octet first sends that in every packet of a
// reply behind the first acknowledgement.
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

// waits heeds a server that asks for patience, or for it no longer.
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

// accept takes a packet of the reply, in its turn or kept until then.
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
		return nil // come twice, or sooner than we asked for
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
