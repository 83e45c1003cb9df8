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

// A Failure is how an I/O operation fails.
type Failure uint8

const (
	Broken   Failure = iota // the connection is reset, for good; a dial is refused
	Short                   // one byte at most is moved; a Write says so by io.ErrShortWrite, a dial is refused
	Silent                  // nothing happens until the deadline, or Close
	Canceled                // the caller's context ends just before it
)

// Failures are all of them.
func Failures() []Failure { return []Failure{Broken, Short, Silent, Canceled} }

// String returns the name of the failure.
func (f Failure) String() string {
	return [...]string{"broken", "short", "silent", "canceled"}[f]
}

// A Breaker counts the I/O operations of the connections that it wraps (each
// dial, Read and Write) and lets one of them fail. It is safe for concurrent
// use.
type Breaker struct {
	at      int // the operation that fails, from 1; 0: none
	failure Failure
	cancel  context.CancelFunc

	mu    sync.Mutex
	count int
}

// NewBreaker returns a Breaker that lets operation number at fail, and the
// context under which the operations must be made. At 0 nothing fails.
func NewBreaker(ctx context.Context, at int, f Failure) (context.Context, *Breaker) {
	ctx, cancel := context.WithCancel(ctx)
	return ctx, &Breaker{at: at, failure: f, cancel: cancel}
}

// Count returns how many operations there were.
func (b *Breaker) Count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count
}

// Hit reports whether the operation that fails was reached.
func (b *Breaker) Hit() bool { return b.at > 0 && b.Count() >= b.at }

// now counts an operation and reports whether it is the one that fails.
func (b *Breaker) now() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count++
	return b.count == b.at
}

// A Dial connects to an address; it is what fetch.Options has.
type Dial = func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error)

// Dial returns dial with its connections wrapped.
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

// Wrap returns conn with its operations counted.
func (b *Breaker) Wrap(conn net.Conn) net.Conn {
	mute, far := net.Pipe()
	return &brokenConn{Conn: conn, b: b, mute: mute, far: far}
}

type brokenConn struct {
	net.Conn
	b *Breaker
	// mute has the deadlines and the end of Conn, and a peer that does
	// nothing.
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
			if err == nil && len(p) > 1 { // as package net has every error of a connection
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

// broken ends the connection, so that later operations fail too.
func (c *brokenConn) broken(op string) error {
	c.Conn.Close()
	return &net.OpError{Op: op, Net: "tcp", Err: os.NewSyscallError(op, syscall.ECONNRESET)}
}

func (c *brokenConn) Close() error {
	return errors.Join(c.Conn.Close(), c.mute.Close(), c.far.Close())
}

// CloseWrite is the half close, where the connection has one.
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

// Sweep runs a test whole, and then again for each failure of every stride-th
// of its operations, as subtests. The test makes its Breaker of at and f by
// NewBreaker (in its synctest bubble, if it begins one), judges the outcome
// (Breaker.Hit tells whether anything had to fail) and returns Breaker.Count.
func Sweep(t *testing.T, stride int, test func(t *testing.T, at int, f Failure) (count int)) {
	n := 0
	t.Run("whole", func(t *testing.T) { n = test(t, 0, Broken) })
	for at := 1; at <= n; at += stride {
		for _, f := range Failures() {
			t.Run(fmt.Sprintf("%s at %d of %d", f, at, n), func(t *testing.T) { test(t, at, f) })
		}
	}
}
