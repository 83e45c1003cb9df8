package tftp

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
)

const (
	firstTimeout = time.Second // delay before a datagram is sent again; doubled each time
	maxTries     = 6           // how often a datagram is sent, within 63 seconds
	maxUseless   = 1000        // datagrams without a new block
)

// A transfer receives the file of one read request. It is not safe for
// concurrent use, except for abort.
type transfer struct {
	conn    net.Conn
	request request
	agreement

	sent    []byte // the last datagram, for repetitions
	buf     []byte
	started bool   // the server has answered
	next    uint16 // number of the next block
	wrapped bool   // block numbers have been reused
	useless int    // datagrams since the last new block
	data    []byte // bytes of the last block that are not read yet
	last    bool   // the last block has arrived
	err     error  // result of Read after data

	mu   sync.Mutex
	open bool // the server has answered and expects a datagram
}

func newTransfer(conn net.Conn, q request) *transfer {
	// The additional byte shows that a datagram was truncated, because it is
	// longer than allowed.
	t := &transfer{conn: conn, request: q, buf: make([]byte, 4+max(q.block, defaultBlock)+1), next: 1}
	t.agreement = agreement{block: defaultBlock, size: -1}
	return t
}

// start sends the request and waits for the first answer of the server.
func (t *transfer) start() error {
	t.sent = t.request.append(nil)
	if err := t.send(); err != nil {
		return err
	}
	return t.receive()
}

// send sends the last datagram.
func (t *transfer) send() error {
	if _, err := t.conn.Write(t.sent); err != nil {
		return connectFault(err)
	}
	return nil
}

// connectFault adds a fault to an error of the connection.
func connectFault(err error) error {
	if fetch.FaultOf(err) == fetch.Internal {
		return fetch.Connect.With(err)
	}
	return err
}

// receive waits for the next datagram that continues the transfer. It sends the
// last datagram again after a timeout.
func (t *transfer) receive() error {
	wait := firstTimeout
	deadline := time.Now().Add(wait)
	for try := 1; ; {
		if err := t.conn.SetReadDeadline(deadline); err != nil {
			return connectFault(err)
		}
		n, err := t.conn.Read(t.buf)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if try++; try > maxTries {
				return fetch.Timeout.Errorf("server did not answer %d datagrams", maxTries)
			}
			if err := t.send(); err != nil {
				return err
			}
			wait *= 2
			deadline = time.Now().Add(wait)
			continue
		}
		if err != nil {
			return connectFault(err)
		}
		if done, err := t.handle(t.buf[:n]); done || err != nil {
			return err
		}
		if t.useless++; t.useless > maxUseless {
			return t.abort(codeIllegal, fetch.Protocol.Errorf("server sent %d datagrams without new data", maxUseless))
		}
	}
}

// handle processes a datagram. It returns false for a datagram that does not
// continue the transfer, such as a repetition.
func (t *transfer) handle(p []byte) (done bool, err error) {
	k, ok := parsePacket(p)
	switch {
	case !ok:
		return false, nil
	case k.kind == kindERROR:
		t.setOpen(false) // the server has ended the transfer
		if t.next > 1 || t.wrapped {
			return true, fetch.Truncated.Errorf("transfer ended early: %w", k.fault())
		}
		return true, k.fault()
	case k.kind == kindOACK && !t.started:
		t.started = true
		t.setOpen(true)
		if t.agreement, err = t.request.parseOptions(k.data); err != nil {
			return true, t.abort(codeOptions, err)
		}
		return true, t.ack(0)
	case k.kind == kindOACK && t.next == 1 && !t.wrapped: // the acknowledgment was lost
		return false, t.send()
	case k.kind != kindDATA:
		return false, nil
	}
	if !t.started {
		t.started = true
		t.setOpen(true)
	}
	return t.block(k)
}

// block processes a DATA datagram. The block after number 65535 has the number
// 0, or 1 with some servers.
func (t *transfer) block(k packet) (done bool, err error) {
	switch {
	case k.block == 1 && t.next == 0:
		t.next = 1
	case k.block == t.next-1 && (t.next > 1 || t.wrapped): // the acknowledgment was lost
		return false, t.send()
	case k.block != t.next:
		return false, nil
	}
	if len(k.data) > t.agreement.block {
		return true, t.abort(codeIllegal, fetch.Protocol.Errorf("block of more than %d bytes", t.agreement.block))
	}
	t.data, t.last, t.useless = k.data, len(k.data) < t.agreement.block, 0
	t.next++
	t.wrapped = t.wrapped || t.next == 0
	return true, t.ack(k.block)
}

// ack acknowledges a block.
func (t *transfer) ack(block uint16) error {
	t.sent = appendAck(t.sent[:0], block)
	return t.send()
}

// abort sends an error to the server, if the server expects a datagram, and
// returns err.
func (t *transfer) abort(code uint16, err error) error {
	if t.setOpen(false) {
		t.conn.Write(errorPacket(code, "transfer aborted"))
	}
	return err
}

// setOpen records whether the server expects a datagram, and returns the
// previous value.
func (t *transfer) setOpen(open bool) (before bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, t.open = t.open, open
	return before
}

// Read implements io.Reader.
func (t *transfer) Read(p []byte) (n int, err error) {
	for len(t.data) == 0 {
		switch {
		case t.err != nil:
			return 0, t.err
		case t.last:
			t.setOpen(false)
			t.err = io.EOF
		default:
			t.err = t.receive()
		}
	}
	n = copy(p, t.data)
	t.data = t.data[n:]
	return n, nil
}
