package faultnet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A Failure is a way in which an I/O operation fails.
type Failure uint8

const (
	Broken   Failure = iota // the connection is reset and stays broken; a dial is refused
	Short                   // at most one byte is transferred; Write returns io.ErrShortWrite; a dial is refused
	Silent                  // the operation blocks until the deadline or Close
	Canceled                // the caller's context ends just before the operation
)

// Failures returns all failures.
func Failures() []Failure { return []Failure{Broken, Short, Silent, Canceled} }

// String returns the name of the failure.
func (f Failure) String() string {
	return [...]string{"broken", "short", "silent", "canceled"}[f]
}

// A Breaker counts the I/O operations (dial, Read and Write) of its connections
// and makes one of them fail. It is safe for concurrent use.
type Breaker struct {
	at      int // number of the operation that fails, from 1; 0: no operation fails
	failure Failure
	cancel  context.CancelFunc

	mu    sync.Mutex
	count int
}

// NewBreaker returns a Breaker that makes the operation with the number at
// fail, and the context that the operations must use. If at is 0, no operation
// fails.
func NewBreaker(ctx context.Context, at int, f Failure) (context.Context, *Breaker) {
	ctx, cancel := context.WithCancel(ctx)
	return ctx, &Breaker{at: at, failure: f, cancel: cancel}
}

// Count returns the number of operations so far.
func (b *Breaker) Count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count
}

// Hit reports whether the failing operation was reached.
func (b *Breaker) Hit() bool { return b.at > 0 && b.Count() >= b.at }

// now counts an operation and reports whether the operation must fail.
func (b *Breaker) now() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count++
	return b.count == b.at
}

// A Dial connects to an address. It has the type of fetch.Options.Dial.
type Dial = func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error)

// Dial returns a function that connects by calling dial. The Breaker counts
// these calls and the operations on the connections.
func (b *Breaker) Dial(dial Dial) Dial {
	return func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
		if b.now() {
			switch b.failure {
			case Broken, Short:
				return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
			case Silent:
				<-ctx.Done()
				return nil, &net.OpError{Op: "dial", Net: network, Err: ctx.Err()}
			case Canceled:
				b.cancel()
			}
		}
		conn, err := dial(ctx, network, to)
		if err != nil {
			return nil, err
		}
		return b.Wrap(conn), nil
	}
}

// Wrap returns a net.Conn that passes all operations on to conn. The Breaker
// counts them and makes the selected one fail.
func (b *Breaker) Wrap(conn net.Conn) net.Conn {
	mute, far := net.Pipe()
	return &brokenConn{Conn: conn, b: b, mute: mute, far: far}
}

type brokenConn struct {
	net.Conn
	b *Breaker
	// mute is a connection to a silent peer, on which a Silent operation
	// blocks. It has the same deadlines as Conn and is closed with it.
	mute, far net.Conn
}

func (c *brokenConn) Read(p []byte) (int, error) {
	if len(p) > 0 && c.b.now() {
		switch c.b.failure {
		case Broken:
			return 0, c.broken("read")
		case Short:
			p = p[:1]
		case Silent:
			return c.mute.Read(p)
		case Canceled:
			c.b.cancel()
		}
	}
	return c.Conn.Read(p)
}

func (c *brokenConn) Write(p []byte) (int, error) {
	if len(p) > 0 && c.b.now() {
		switch c.b.failure {
		case Broken:
			return 0, c.broken("write")
		case Short:
			n, err := c.Conn.Write(p[:1])
			if err == nil && len(p) > 1 { // package net wraps every connection error in this way
				err = &net.OpError{Op: "write", Net: "tcp", Err: io.ErrShortWrite}
			}
			return n, err
		case Silent:
			return c.mute.Write(p)
		case Canceled:
			c.b.cancel()
		}
	}
	return c.Conn.Write(p)
}

// broken closes the connection, so that later operations fail too.
func (c *brokenConn) broken(op string) error {
	c.Conn.Close()
	return &net.OpError{Op: op, Net: "tcp", Err: os.NewSyscallError(op, syscall.ECONNRESET)}
}

func (c *brokenConn) Close() error {
	return errors.Join(c.Conn.Close(), c.mute.Close(), c.far.Close())
}

// CloseWrite closes the sending side, if Conn supports a half close.
func (c *brokenConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

func (c *brokenConn) SetDeadline(t time.Time) error {
	return errors.Join(c.Conn.SetDeadline(t), c.mute.SetDeadline(t))
}

func (c *brokenConn) SetReadDeadline(t time.Time) error {
	return errors.Join(c.Conn.SetReadDeadline(t), c.mute.SetReadDeadline(t))
}

func (c *brokenConn) SetWriteDeadline(t time.Time) error {
	return errors.Join(c.Conn.SetWriteDeadline(t), c.mute.SetWriteDeadline(t))
}

// Sweep runs test once without a failure. Then it runs test as a subtest for
// each Failure at every stride-th operation. The test calls NewBreaker with at
// and f (inside its synctest bubble, if any), checks the outcome with
// Breaker.Hit, and returns Breaker.Count.
func Sweep(t *testing.T, stride int, test func(t *testing.T, at int, f Failure) (count int)) {
	n := 0
	t.Run("whole", func(t *testing.T) { n = test(t, 0, Broken) })
	for at := 1; at <= n; at += stride {
		for _, f := range Failures() {
			t.Run(fmt.Sprintf("%s at %d of %d", f, at, n), func(t *testing.T) { test(t, at, f) })
		}
	}
}
