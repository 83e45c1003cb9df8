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

// A Conn is a connection that a server has, or had, with a client. Scripts
// write to it; what the client sends is read at once and kept.
type Conn struct {
	Nth int // of its server, from 1

	server *Server
	raw    net.Conn
	done   <-chan struct{} // closed with the server

	mu     sync.Mutex
	top    net.Conn // raw, or the TLS above it
	in     *inbox   // of top
	before []byte   // what was taken before TLS began
}

func newConn(s *Server, nth int, raw net.Conn) *Conn {
	c := &Conn{Nth: nth, server: s, raw: raw, done: s.done, top: raw, in: newInbox()}
	s.tasks.Go(func() { c.in.fill(raw) })
	return c
}

// Write sends p to the client.
func (c *Conn) Write(p []byte) (int, error) { return c.top.Write(p) }

// Read reads what the client said.
func (c *Conn) Read(p []byte) (int, error) { return c.in.Read(p) }

// ReadLine returns the next line of the client with its end, LF or CR LF. Its
// error is io.EOF if the client has ended.
func (c *Conn) ReadLine() (string, error) {
	line, err := c.take(func(said []byte) (int, bool) {
		n := bytes.IndexByte(said, '\n') + 1
		return n, n > 0
	})
	return string(line), err
}

// Sent returns what the client has sent until now; of TLS, what is within.
func (c *Conn) Sent() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append(c.before[:len(c.before):len(c.before)], c.in.all()...)
}

// All returns what the client sent, once it has ended its side, by a close or
// a half close, or the connection has ended otherwise.
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

// take waits until find is content with what the client said, and returns
// the bytes that it takes of that.
func (c *Conn) take(find func(said []byte) (n int, ok bool)) ([]byte, error) {
	return c.in.take(find)
}

func (c *Conn) unread() []byte { return c.in.unread() }

// sleep reports whether d passed before the server was closed.
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

// errEnd ends a script.
var errEnd = errors.New("end of script")

// run follows the script and closes the connection.
func (c *Conn) run(script Script) error {
	defer c.raw.Close()
	for _, step := range script {
		if step.do == nil {
			continue // Refuse and Blackhole are not for a connection
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

// isOver reports whether err is the end of the script, or of the connection,
// which is the client's right.
func isOver(err error) bool {
	var op *net.OpError
	return errors.Is(err, errEnd) || errors.As(err, &op) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// An inbox holds what came from a connection, all of it for the record.
type inbox struct {
	ended chan struct{} // closed when nothing comes any more

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

// fill reads r to its end.
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

// Read waits for something to come.
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
