package faultnet

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	pipeBytes    = 64 << 10 // buffer size of each direction of a stream
	pipeMessages = 64       // buffered datagrams; further ones are lost
)

// A PipeConn is one end of a connection in memory. It waits only on condition
// variables and timers, so that time advances in a synctest bubble. Unlike
// net.Pipe it buffers written bytes, and it can end in all the ways of TCP.
type PipeConn struct {
	in, out     *half
	local, peer net.Addr
	closeOnce   sync.Once
	network     string
}

// Pipe returns both ends of a stream between two addresses.
func Pipe(client, server netip.AddrPort) (near, far *PipeConn) {
	return pipe("tcp", net.TCPAddrFromAddrPort(client), net.TCPAddrFromAddrPort(server))
}

// PacketPipe returns both ends of a connected pair of UDP sockets.
func PacketPipe(client, server netip.AddrPort) (near, far *PipeConn) {
	return pipe("udp", net.UDPAddrFromAddrPort(client), net.UDPAddrFromAddrPort(server))
}

func pipe(network string, client, server net.Addr) (near, far *PipeConn) {
	there, back := newHalf(network == "udp"), newHalf(network == "udp")
	near = &PipeConn{in: back, out: there, local: client, peer: server, network: network}
	far = &PipeConn{in: there, out: back, local: server, peer: client, network: network}
	return near, far
}

// Read reads bytes that the other end wrote. It returns io.EOF after the other
// end closed the connection.
func (c *PipeConn) Read(p []byte) (int, error) {
	n, err := c.in.get(p)
	return n, c.wrap("read", err)
}

// Write writes to the other end. On a stream it blocks while the buffer is
// full. On a datagram connection it drops the datagram instead.
func (c *PipeConn) Write(p []byte) (int, error) {
	n, err := c.out.put(p)
	return n, c.wrap("write", err)
}

func (c *PipeConn) wrap(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	var number syscall.Errno
	if errors.As(err, &number) {
		err = os.NewSyscallError(op, number)
	}
	return &net.OpError{Op: op, Net: c.network, Source: c.local, Addr: c.peer, Err: err}
}

// Close closes both directions. The other end then reads io.EOF.
func (c *PipeConn) Close() error { return c.end(io.EOF) }

// Reset aborts the connection, like a TCP RST. The other end reads the buffered
// bytes and then ECONNRESET.
func (c *PipeConn) Reset() error { return c.end(syscall.ECONNRESET) }

func (c *PipeConn) end(err error) error {
	result := c.wrap("close", net.ErrClosed)
	c.closeOnce.Do(func() {
		c.out.finish(err, net.ErrClosed)
		c.in.finish(net.ErrClosed, syscall.EPIPE)
		result = nil
	})
	return result
}

// CloseWrite closes the writing side. The connection can still be read.
func (c *PipeConn) CloseWrite() error {
	c.out.finish(io.EOF, syscall.EPIPE)
	return nil
}

func (c *PipeConn) LocalAddr() net.Addr  { return c.local }
func (c *PipeConn) RemoteAddr() net.Addr { return c.peer }

func (c *PipeConn) SetReadDeadline(t time.Time) error {
	return c.wrap("set", c.in.setDeadline(&c.in.readBy, t))
}

func (c *PipeConn) SetWriteDeadline(t time.Time) error {
	return c.wrap("set", c.out.setDeadline(&c.out.writeBy, t))
}

func (c *PipeConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// A half is the buffer for one direction of an in-memory connection.
type half struct {
	messages bool // preserves message boundaries

	mu              sync.Mutex
	changed         *sync.Cond
	queue           [][]byte
	size            int
	getErr, putErr  error // getErr ends reading when the queue is empty; putErr ends writing
	gone            bool  // the reader has closed the connection
	readBy, writeBy deadline
}

// A deadline is a read or write deadline of an in-memory connection.
type deadline struct {
	time  time.Time
	timer *time.Timer
}

func (d *deadline) passed() bool { return !d.time.IsZero() && !time.Now().Before(d.time) }

func newHalf(messages bool) *half {
	h := &half{messages: messages}
	h.changed = sync.NewCond(&h.mu)
	return h
}

func (h *half) get(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.gone:
			return 0, h.getErr
		case h.readBy.passed():
			return 0, os.ErrDeadlineExceeded
		case len(h.queue) > 0:
			return h.take(p), nil
		case h.getErr != nil:
			return 0, h.getErr
		case len(p) == 0 && !h.messages:
			return 0, nil
		}
		h.changed.Wait()
	}
}

// take copies buffered bytes to p. If p is too small for a datagram, the rest
// of the datagram is lost.
func (h *half) take(p []byte) int {
	n := copy(p, h.queue[0])
	h.size -= n
	if h.queue[0] = h.queue[0][n:]; h.messages || len(h.queue[0]) == 0 {
		h.size -= len(h.queue[0])
		h.queue = h.queue[1:]
	}
	h.changed.Broadcast()
	return n
}

func (h *half) put(p []byte) (n int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.putErr != nil:
			return n, h.putErr
		case h.writeBy.passed():
			return n, os.ErrDeadlineExceeded
		case h.messages:
			if len(h.queue) < pipeMessages {
				h.add(p)
			}
			return len(p), nil
		case n == len(p):
			return n, nil
		case h.size < pipeBytes:
			k := min(len(p)-n, pipeBytes-h.size)
			h.add(p[n : n+k])
			n += k
			continue
		}
		h.changed.Wait()
	}
}

func (h *half) add(p []byte) {
	h.queue = append(h.queue, append([]byte(nil), p...))
	h.size += len(p)
	h.changed.Broadcast()
}

// finish sets the errors that later reads and writes return. The first error
// counts, except that ECONNRESET replaces io.EOF, and an error caused by the
// local side replaces one caused by the other end.
func (h *half) finish(getErr, putErr error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.getErr == nil || getErr != io.EOF && !h.gone {
		h.getErr = getErr
	}
	if h.putErr == nil || putErr == net.ErrClosed {
		h.putErr = putErr
	}
	if getErr == net.ErrClosed {
		h.gone, h.queue, h.size = true, nil, 0
	}
	h.changed.Broadcast()
}

func (h *half) setDeadline(d *deadline, t time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.getErr == net.ErrClosed && d == &h.readBy || h.putErr == net.ErrClosed && d == &h.writeBy {
		return net.ErrClosed
	}
	if d.timer != nil {
		d.timer.Stop()
	}
	d.time = t
	if wait := time.Until(t); !t.IsZero() && wait > 0 {
		d.timer = time.AfterFunc(wait, func() {
			h.mu.Lock() // otherwise a reader could miss the signal just before it waits
			defer h.mu.Unlock()
			h.changed.Broadcast()
		})
	}
	h.changed.Broadcast()
	return nil
}
