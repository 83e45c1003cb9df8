package faultnet

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// A Conn is one client connection of a test server. It records all bytes that
// the client sends.
type Conn struct {
	Nth int // number of the connection at its server, from 1

	server *Server
	raw    net.Conn
	done   <-chan struct{} // closed when the server is closed

	mu     sync.Mutex
	top    net.Conn // the raw connection, or a TLS or compressed connection on top of it
	in     *inbox   // the bytes received from top
	before []byte   // the bytes consumed before TLS or compression started
}

func newConn(s *Server, nth int, raw net.Conn) *Conn {
	c := &Conn{Nth: nth, server: s, raw: raw, done: s.done, top: raw, in: newInbox()}
	s.tasks.Go(func() { c.in.fill(raw) })
	return c
}

// Write sends p to the client.
func (c *Conn) Write(p []byte) (int, error) { return c.top.Write(p) }

// Read reads bytes that the client sent.
func (c *Conn) Read(p []byte) (int, error) { return c.in.Read(p) }

// ReadLine returns the next line that the client sent, including its LF or CR
// LF. It returns io.EOF if the client has closed its sending side.
func (c *Conn) ReadLine() (string, error) {
	line, err := c.take(func(said []byte) (int, bool) {
		n := bytes.IndexByte(said, '\n') + 1
		return n, n > 0
	})
	return string(line), err
}

// Sent returns all bytes that the client has sent so far. For a TLS connection,
// the bytes are decrypted.
func (c *Conn) Sent() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append(c.before[:len(c.before):len(c.before)], c.in.all()...)
}

// All waits until the client has closed its sending side, and returns all bytes
// that the client sent.
func (c *Conn) All() []byte {
	c.mu.Lock()
	in := c.in
	c.mu.Unlock()
	<-in.ended
	return c.Sent()
}

func (c *Conn) write(p []byte) error {
	_, err := c.Write(p)
	return err
}

// take calls find with the unread bytes of the client, again after each read,
// until find returns true. It then consumes and returns the first n of these
// bytes.
func (c *Conn) take(find func(said []byte) (n int, ok bool)) ([]byte, error) {
	return c.in.take(find)
}

func (c *Conn) unread() []byte { return c.in.unread() }

// sleep waits for d. It returns false if the server is closed earlier.
func (c *Conn) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.done:
		return false
	}
}

func (c *Conn) reset() {
	switch raw := c.raw.(type) {
	case *PipeConn:
		raw.Reset()
	case *net.TCPConn:
		raw.SetLinger(0)
		raw.Close()
	}
}

func (c *Conn) halfClose() error {
	if c.top != c.raw {
		if err := c.top.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
			return err
		}
	}
	return c.raw.(interface{ CloseWrite() error }).CloseWrite()
}

// errEnd is returned by a step of a script to end the script.
var errEnd = errors.New("end of script")

// run executes the script and closes the connection.
func (c *Conn) run(script Script) error {
	defer c.raw.Close()
	for _, step := range script {
		if step.do == nil {
			continue // Refuse and Blackhole apply before a connection exists
		}
		if err := step.do(c); isOver(err) {
			return nil
		} else if err != nil {
			return &StepError{c.Nth, step.name, err}
		}
	}
	c.top.Close()
	return nil
}

// isOver reports whether err is the normal end of a script or of a connection.
func isOver(err error) bool {
	var op *net.OpError
	return errors.Is(err, errEnd) || errors.As(err, &op) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// An inbox keeps all bytes that were received from a connection.
type inbox struct {
	ended chan struct{} // closed at the end of the input

	mu    sync.Mutex
	more  *sync.Cond
	got   []byte
	taken int
	err   error
}

func newInbox() *inbox {
	in := &inbox{ended: make(chan struct{})}
	in.more = sync.NewCond(&in.mu)
	return in
}

// fill reads r until it ends.
func (in *inbox) fill(r io.Reader) {
	defer close(in.ended)
	p := make([]byte, 4<<10)
	for err := error(nil); err == nil; {
		var n int
		n, err = r.Read(p)
		in.mu.Lock()
		in.got = append(in.got, p[:n]...)
		in.err = err
		in.more.Broadcast()
		in.mu.Unlock()
	}
}

// Read blocks until unread bytes are available.
func (in *inbox) Read(p []byte) (n int, err error) {
	said, err := in.take(func(said []byte) (int, bool) { return min(len(said), len(p)), len(said) > 0 })
	return copy(p, said), err
}

func (in *inbox) take(find func([]byte) (int, bool)) ([]byte, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for {
		said := in.got[in.taken:]
		if n, ok := find(said); ok {
			in.taken += n
			return said[:n:n], nil
		}
		if in.err != nil {
			return nil, in.err
		}
		in.more.Wait()
	}
}

func (in *inbox) all() []byte {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.got[:len(in.got):len(in.got)]
}

func (in *inbox) takenBytes() []byte {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.got[:in.taken:in.taken]
}

func (in *inbox) unread() []byte {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.got[in.taken:]
}
