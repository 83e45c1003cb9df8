package peer

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// A command describes a program that runs as a server. The program must not run
// in the background.
type command struct {
	path string
	args []string
	env  []string  // added to the environment of this process
	user string    // account of the process, or "" for the current account
	with []command // further processes of the same server
	quit os.Signal // sent before the program is killed, or nil
}

const (
	startTime = 2 * time.Minute       // time limit for the start of a server on a busy machine
	retryTime = 20 * time.Millisecond // time between two attempts to connect
)

// start starts the processes of a server on free ports and waits until the
// server accepts connections on all addresses. The function configure writes
// the configuration and sets the addresses of s. If a process exits
// immediately, start retries with other ports, because another program may have
// used one of the ports.
func (s *Server) start(configure func(base uint16) command) *Server {
	s.t.Helper()
	for range 3 {
		base, held, err := reserve()
		if err != nil {
			s.t.Fatalf("peer: %v", err)
		}
		c := configure(base)
		s.Port, s.TLSPort = port(s.Addr), port(s.TLSAddr)
		var group processes
		s.end = group.end
		s.again = func() error { return s.restart(&group, c) }
		s.t.Cleanup(func() { group.end(); held.Close() })
		if err := s.spawnAll(&group, c); err != nil {
			s.t.Fatalf("peer: %v", err)
		}
		if err = s.ready(group); err == nil {
			return s
		}
		group.end()
		if !errors.Is(err, errExited) {
			s.t.Fatalf("peer: %s: %v", c.path, err)
		}
		s.t.Logf("peer: %s: %v", c.path, err)
	}
	s.t.Fatalf("peer: no server after three attempts")
	return nil
}

// spawnAll starts the processes of a server.
func (s *Server) spawnAll(group *processes, c command) error {
	for _, c := range append([]command{c}, c.with...) {
		p, err := s.spawn(c, nil)
		if err != nil {
			return err
		}
		*group = append(*group, p)
	}
	return nil
}

// restart ends the processes of a server, starts them again on the same ports,
// and waits until the server accepts connections.
func (s *Server) restart(group *processes, c command) error {
	group.end()
	*group = nil
	if err := s.spawnAll(group, c); err != nil {
		return err
	}
	return s.ready(*group)
}

var errExited = errors.New("exited before it answered")

// ready waits until the server accepts connections on all of its addresses.
func (s *Server) ready(group processes) error {
	for _, a := range []string{s.Addr, s.TLSAddr} {
		if a == "" {
			continue
		}
		err := retry(func() error {
			err := connect(a)
			if group.exited() {
				return errExited // another process may have accepted the connection
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("no answer on %s: %w", a, err)
		}
	}
	if s.accepts != nil {
		return retry(s.accepts)
	}
	return nil
}

// retry calls f repeatedly until f succeeds, the server has exited, or
// startTime has passed.
func retry(f func() error) error {
	deadline := time.Now().Add(startTime)
	for {
		err := f()
		if err == nil || errors.Is(err, errExited) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(retryTime)
	}
}

func connect(addr string) error {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return err
	}
	return conn.Close()
}

// greeted waits until the server sends the given greeting. Some servers accept
// connections before they are ready.
func (s *Server) greeted(addr, want string) {
	s.t.Helper()
	err := retry(func() error {
		conn, err := net.DialTimeout("tcp", addr, time.Second)
		if err != nil {
			return err
		}
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(startTime)); err != nil {
			return err
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(conn, got); err != nil {
			return err
		}
		if string(got) != want {
			return fmt.Errorf("greeting %q, want %q", got, want)
		}
		return nil
	})
	if err != nil {
		s.t.Fatalf("peer: %s: %v", addr, err)
	}
}
