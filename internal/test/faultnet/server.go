package faultnet

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// A Server is a test server that executes one Script for each connection, in
// order. The last Script serves all further connections. A Server is safe for
// concurrent use.
type Server struct {
	addr   netip.AddrPort
	listen func() error // accepts connections again after a restart
	shut   func()       // stops accepting connections

	done  chan struct{} // closed by Close
	tasks sync.WaitGroup

	mu      sync.Mutex
	scripts []Script
	conns   []*Conn
	down    bool
	closed  bool
	errs    []error
}

// A StepError is the error of a failed Step of a Script.
type StepError struct {
	Conn int    // Conn.Nth
	Step string // name of the step
	Err  error
}

func (e *StepError) Error() string {
	return fmt.Sprintf("connection %d: %s: %v", e.Conn, e.Step, e.Err)
}

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Err }

func newServer(t testing.TB, addr netip.AddrPort, scripts []Script) *Server {
	s := &Server{addr: addr, done: make(chan struct{}), scripts: scripts,
		listen: func() error { return nil }, shut: func() {}}
	t.Cleanup(s.Close)
	return s
}

// Addr returns the address of the server.
func (s *Server) Addr() netip.AddrPort { return s.addr }

// Conns returns all accepted connections in order.
func (s *Server) Conns() []*Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns[:len(s.conns):len(s.conns)]
}

// Err returns the errors of all scripts, joined by errors.Join, or nil.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.errs...)
}

// Close closes all connections and stops the server. The recorded bytes stay
// available.
func (s *Server) Close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.done)
	}
	s.end()
	s.mu.Unlock()
	s.tasks.Wait()
}

// end closes the listener and all connections. The caller must hold s.mu.
func (s *Server) end() {
	s.shut()
	for _, c := range s.conns {
		c.raw.Close()
	}
}

func (s *Server) isDown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down || s.closed
}

// next returns the script of the next connection.
func (s *Server) next() Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.scripts) == 0 {
		return nil
	}
	script := s.scripts[0]
	if len(s.scripts) > 1 {
		s.scripts = s.scripts[1:]
	}
	return script
}

// serve starts goroutines that execute a script on a new connection.
func (s *Server) serve(raw net.Conn, script Script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.down {
		raw.Close()
		return
	}
	c := newConn(s, len(s.conns)+1, raw)
	s.conns = append(s.conns, c)
	s.tasks.Go(func() { s.failed(c.run(script)) })
}

func (s *Server) failed(err error) {
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, err)
}

func (s *Server) restart(d time.Duration) error {
	s.mu.Lock()
	s.down = true
	s.end()
	s.mu.Unlock()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.done:
		return errEnd
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errEnd
	}
	if err := s.listen(); err != nil {
		return fmt.Errorf("listen again: %v", err) // not %w, because it is not an error of this connection
	}
	s.down = false
	return errEnd
}
